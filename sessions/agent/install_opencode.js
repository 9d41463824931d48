// Written by "panebridge hooks install opencode", taken away by "panebridge hooks remove
// opencode". It tells panebridge what this opencode is doing, one event after the other,
// and never waits for it.

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

// A plug-in is loaded by each instance, but what's told must stay in order.
let last = Promise.resolve()
let waiting = 0

const cut = (_, value) => (typeof value === "string" && value.length > longest ? value.slice(0, longest) : value)

const tell = (event, data) => {
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
        const child = spawn(command[0], [...command.slice(1), event], { stdio: ["pipe", "ignore", "ignore"] })
        child.on("error", end)
        child.stdin.on("error", () => {})
        child.stdin.end(text)
        child.on("exit", end)
      } catch {
        end()
      }
    })
  last = last.then(once).then(() => {
    waiting--
  })
}

// Conversations of sub-agents, by the id of the one they belong to.
const parents = new Map()

const mark = (id, data) => (parents.has(id) ? { ...data, parentID: parents.get(id) } : data)

export const Panebridge = async ({ directory }) => ({
  event: async ({ event }) => {
    const data = event.properties ?? {}
    const info = data.info
    if (event.type === "session.created" && info?.parentID) parents.set(info.id, info.parentID)
    if (wanted.has(event.type)) tell(event.type, mark(data.sessionID ?? info?.id, { ...data, directory }))
  },
  "chat.message": async (input, output) => {
    const text = (output?.parts ?? []).filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
    tell("chat.message", mark(input.sessionID, { sessionID: input.sessionID, directory, text: text.join("\n") }))
  },
  "tool.execute.before": async (input, output) => {
    tell("tool.execute.before", mark(input.sessionID, { input, output: { args: output?.args }, directory }))
  },
  "tool.execute.after": async (input) => {
    tell("tool.execute.after", mark(input.sessionID, { input: { ...input, args: undefined }, directory }))
  },
})
