// Written by "panebridge hooks install opencode", taken away by "panebridge hooks remove
// opencode". It tells panebridge what this opencode is doing, one event after the other,
// and waits for it behind a tool alone, at most 0.2 s: what panebridge has to say to the
// model is put behind the tool's result. What opencode asks can be answered by panebridge: the dialog
// stands and takes keys meanwhile, and who comes first counts.

import { spawn } from "node:child_process"

const command = []

// What says something; the bus has far more.
const wanted = new Set([
  "session.created",
  "session.idle",
  "session.error",
  "question.asked",
  "question.replied",
  "question.rejected",
  "permission.asked",
  "permission.replied",
])

const longest = 2000 // characters of a text
const most = 60000 // characters of an event
const whole = 1000000 // characters of an event by which a person is asked: all of it is told
const patience = 1000 // ms for one event
const hearing = 200 // ms that a tool's result waits for what the model is to read
const asksAtOnce = 16 // requests for whose answer a process waits

// A plug-in is loaded by each instance, but what's told must stay in order.
let last = Promise.resolve()
let waiting = 0

const cut = (_, value) => (typeof value === "string" && value.length > longest ? value.slice(0, longest) : value)

// Requests that are open, by their ids: the process that waits for the answer.
const open = new Map()
// Those that were answered lately: their answer isn't waited for. Those that panebridge
// answers: what came of that is told by itself.
const settled = new Set()
const ours = new Set()

// What's asked by each request that's open: of two that ask the same nobody who looks at the
// dialog can say which it is.
const asked = new Map()

const alike = (id) => [...asked].some(([other, what]) => other !== id && what === asked.get(id))

const settle = (id) => {
  asked.delete(id)
  settled.add(id)
  if (settled.size > 100) settled.delete(settled.values().next().value)
  const child = open.get(id)
  open.delete(id)
  child?.kill()
}

// What panebridge has to say to a conversation's model, by its id, until a tool ends.
const heard = new Map()

const hear = (id, said) => {
  try {
    const text = JSON.parse(said).hookSpecificOutput?.additionalContext
    if (typeof text === "string" && text) heard.set(id, [...(heard.get(id) ?? []), text])
    if (heard.size > 50) heard.delete(heard.keys().next().value)
  } catch {} // mostly it says nothing
}

// tell calls panebridge. If the answer is wanted, it's what panebridge writes behind a first
// byte, which says that it has heard. listen is given all that it writes, of an event for whose
// answer no process waits. What's returned is done when panebridge has been told.
const tell = (event, data, answer, listen) => {
  if (waiting >= 100) return
  waiting++
  let text = "{}"
  try {
    const asks = event.endsWith(".asked")
    text = JSON.stringify(data, asks ? undefined : cut)
    if (text.length > (asks ? whole : most)) text = JSON.stringify({ sessionID: data.sessionID ?? data.input?.sessionID, parentID: data.parentID })
  } catch {}
  const once = () =>
    new Promise((done) => {
      const limit = setTimeout(done, patience)
      const end = () => {
        clearTimeout(limit)
        done()
      }
      try {
        const wait = answer && open.size < asksAtOnce && !settled.has(data.id)
        const args = [...command.slice(1), event, ...(wait ? ["--wait"] : [])]
        const child = spawn(command[0], args, { stdio: ["pipe", wait || listen ? "pipe" : "ignore", "ignore"] })
        child.on("error", end)
        child.stdin.on("error", () => {})
        child.stdin.end(text)
        if (!wait && !listen) {
          child.on("exit", end)
          return
        }
        let said = ""
        child.stdout.setEncoding("utf8")
        child.stdout.on("error", () => {})
        if (!wait) {
          child.stdout.on("data", (part) => (said += part))
          child.on("close", () => {
            listen(said)
            end()
          })
          return
        }
        open.set(data.id, child)
        child.stdout.on("data", (part) => {
          said += part
          end()
        })
        child.on("close", () => {
          end()
          const still = open.get(data.id) === child
          if (still) open.delete(data.id)
          if (still && said.trim()) answer(said)
        })
      } catch {
        end()
      }
    })
  last = last.then(once).then(() => {
    waiting--
  })
  return last
}

// reply answers a request of opencode as panebridge says, and tells what came of it.
const reply = async (client, event, data, said) => {
  let outcome = "failed"
  ours.add(data.id)
  try {
    if (alike(data.id)) throw new Error("another request asks the same")
    const { reply, message, answers } = JSON.parse(said)
    const kind = event.slice(0, event.indexOf("."))
    const result = await client.post({
      url: `/${kind}/${encodeURIComponent(data.id)}/reply`,
      headers: { "Content-Type": "application/json" },
      body: kind === "question" ? { answers } : { reply, message },
    })
    if (!result.error && result.response?.ok) outcome = "given"
    else if (result.response?.status === 404 && JSON.stringify(result.error ?? "").includes("NotFoundError")) outcome = "late"
  } catch {}
  ours.delete(data.id)
  tell("panebridge.replied", { sessionID: data.sessionID, requestID: data.id, outcome })
}

// What tools are about to do, by the ids of their calls: some of what's asked doesn't say it.
const calls = new Map()

const remember = (id, args) => {
  calls.set(id, args)
  if (calls.size > 50) calls.delete(calls.keys().next().value)
}

// Conversations of sub-agents, by the id of the one they belong to.
const parents = new Map()

const mark = (id, data) => (parents.has(id) ? { ...data, parentID: parents.get(id) } : data)

export const Panebridge = async ({ directory, client }) => {
  const http = client?._client
  return {
    event: async ({ event }) => {
      const data = event.properties ?? {}
      const info = data.info
      if (event.type === "session.created" && info?.parentID) parents.set(info.id, info.parentID)
      if (!wanted.has(event.type)) return
      if (data.requestID) settle(data.requestID)
      if (event.type.endsWith(".asked")) asked.set(data.id, JSON.stringify([data.permission, data.metadata, data.patterns, data.questions]))
      const answer = event.type.endsWith(".asked") && typeof http?.post === "function" && ((said) => reply(http, event.type, data, said))
      const args = event.type === "permission.asked" ? calls.get(data.tool?.callID) : undefined
      const id = data.sessionID ?? info?.id
      const listen = event.type === "session.created" && ((said) => hear(id, said))
      tell(event.type, mark(id, { ...data, args, directory, own: ours.has(data.requestID) || undefined }), answer, listen)
    },
    "chat.message": async (input, output) => {
      const text = (output?.parts ?? []).filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      tell("chat.message", mark(input.sessionID, { sessionID: input.sessionID, directory, text: text.join("\n") }))
    },
    "tool.execute.before": async (input, output) => {
      if (output?.args) remember(input.callID, output.args)
      tell("tool.execute.before", mark(input.sessionID, { input, output: { args: output?.args }, directory }))
    },
    "tool.execute.after": async (input, output) => {
      calls.delete(input.callID)
      const data = mark(input.sessionID, { input: { ...input, args: undefined }, directory })
      const told = tell("tool.execute.after", data, undefined, (said) => hear(input.sessionID, said))
      await Promise.race([told, new Promise((done) => setTimeout(done, hearing))])
      if (!heard.has(input.sessionID) || typeof output?.output !== "string") return
      output.output += "\n\n" + heard.get(input.sessionID).join("\n\n")
      heard.delete(input.sessionID)
    },
  }
}
