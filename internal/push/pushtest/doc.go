// Package pushtest is a strict stand-in for push services, and for devices whose browsers subscribe with
// them. It refuses what at least one of the real ones refuses, and shares nothing with what sends: what's
// encrypted is read, and what's signed is checked, as RFC 8291 and RFC 8292 say.
//
// What the real ones do and it does, too:
//
//   - a body of more than 4096 bytes is answered 413 (RFC 8030 lets a service do so above that; FCM, Mozilla
//     and Apple do); Service.MaxBody makes it less, as bridges to phones have it
//   - TTL must be there (400: Mozilla, FCM) and at most 28 days (FCM)
//   - Topic has at most 32 characters of base64url (400: Mozilla, Apple), and what has the same one takes the
//     place of what waits for a device that's away
//   - Urgency is one of four words (400)
//   - Content-Encoding is aes128gcm, in one record, with a salt, and with the sender's key as its id (400)
//   - the JWT is signed by the key that the browser subscribed with (403), for this service alone ("aud"), not
//     over and for 24 hours at most ("exp"); its "sub" is a mail address or an https address, and none of the
//     sender's own machine (403: Apple, BadJwtToken)
//   - an endpoint that was forgotten is answered 404 or 410
//
// What it doesn't do: it has no bridges to other services (APNs, WNS), keeps no receipts (RFC 8030, 6.2), and
// forgets nothing by itself when a TTL is over.
package pushtest
