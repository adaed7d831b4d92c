/** The introduction of the API document, for authors of apps. */
export const introduction = `## Getting started

1. **Get a token.** A person makes one at \`POST /api/client-tokens\` and types it into the app, or reads a code of it to the app,
   which changes it at \`POST /api/client-tokens/exchange\`. An app that can only show a code begins at
   \`POST /api/auth/device/init\` and asks \`POST /api/auth/device/token\` until the person approved it.
2. **Send it** with every request: \`Authorization: Bearer svc_…\`.
3. **Look around**: \`GET /api/heartbeat\` says what the server can do, \`GET /api/platforms\` and \`GET /api/roms\` what there is,
   and \`GET /api/roms/{id}/content/{file_name}\` sends a game.

\`\`\`sh
curl -H "Authorization: Bearer $TOKEN" "$SERVER/api/roms?limit=10"
\`\`\`

## Authentication

| Way | For |
|---|---|
| client API token, as \`Bearer\` | apps, scripts and devices; it holds the scopes that it was made with, and ends when it is deleted |
| \`POST /api/token\` | programs that know OAuth 2: a short-lived access token and one to renew it |
| \`Basic\` | trying things out |
| \`POST /api/login\`, a cookie | pages in a browser; whatever changes something sends the cookie \`svc_csrftoken\` back as \`X-CSRFToken\` |

Each operation names its scopes. A token has no more than its owner may do at that moment.

## Addresses

Paths in answers, such as those of covers, stand below the address of the server and do not have its path in front: where it is
at \`https://home.example.org/games\`, \`/assets/…\` is at \`https://home.example.org/games/assets/…\`. Answers that call a field
\`url\` or \`uri\` give whole addresses.

## Errors

Every error is JSON with \`detail\`: a sentence, an object with \`message\`, or at 422 a list with the place of each value that is
wrong. Come back after \`Retry-After\` seconds at 429 and 503. What somebody may not see is answered 404, as what does not exist.

Every answer has an \`X-Request-Id\`: the one that its request came with, or a new one. The log of the server has it too.

## Events

What happens is told over socket.io at \`/ws/socket.io\`; \`/asyncapi.json\` describes those events. \`/openapi.json\` is this document.
`
