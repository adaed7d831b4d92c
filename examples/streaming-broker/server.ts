import { createHash, timingSafeEqual } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { type Emulator, Refused } from './emulator.ts'

const BODY_MAX_BYTES = 64 * 1024

type Body = Readonly<Record<string, unknown>>
type Act = (body: Body) => Promise<object>

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Compares in constant time for any length. */
const isSecret = (given: unknown, secret: string) => timingSafeEqual(digest(String(given)), digest(secret))

async function readBody (request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_MAX_BYTES) throw new Refused('The body is too large')
    chunks.push(chunk)
  }
  if (bytes === 0) return {}
  const value: unknown = JSON.parse(Buffer.concat(chunks).toString())
  if (typeof value !== 'object' || value === null) throw new Refused('The body is no JSON object')
  return value as Body
}

function textOf (body: Body, name: string): string {
  const value = body[name]
  if (typeof value !== 'string' || value === '') throw new Refused(`'${name}' is missing`)
  return value
}

function numberOf (body: Body, name: string, max: number): number {
  const value = body[name]
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max) {
    throw new Refused(`'${name}' is no whole number up to ${max}`)
  }
  return value
}

const SLOT_MAX = 10
const LEVEL_MAX = 100

/** Lists the actions that the server requests, by method and path. */
function listActs (emulator: Emulator): Readonly<Record<string, Act>> {
  let isMuted = false
  return {
    'POST /launch': async (body) => {
      const state = body.state_path === undefined ? undefined : textOf(body, 'state_path')
      await emulator.launch({ rom_path: textOf(body, 'rom_path'), platform: textOf(body, 'platform'), state_path: state })
      return await emulator.progress()
    },
    'GET /launch': () => emulator.progress(),
    'DELETE /launch': async () => ({ stopped: await emulator.stop() }),
    'POST /save-and-exit': async (body) => {
      const saving = emulator.saveAndExit(numberOf(body, 'slot', SLOT_MAX))
      if (body.wait !== false) return { saved: await saving }
      saving.catch(() => { /* nobody waits for it */ })
      return { saved: false }
    },
    'POST /volume': async (body) => {
      await emulator.setVolume(numberOf(body, 'level', LEVEL_MAX))
      return { status: 'ok' }
    },
    'POST /mute': async ({ mute }) => {
      isMuted = typeof mute === 'boolean' ? mute : !isMuted
      await emulator.setMute(isMuted)
      return { mute: isMuted }
    },
    'POST /save-state': async (body) => {
      await emulator.saveState(numberOf(body, 'slot', SLOT_MAX))
      return { status: 'saving' }
    },
    'POST /load-state': async (body) => {
      await emulator.loadState(numberOf(body, 'slot', SLOT_MAX))
      return { loaded: true }
    },
    'POST /desktop': async () => {
      await emulator.stop()
      return {}
    },
    // Everybody who opens the desktop sees the same one.
    'POST /join': async () => ({})
  }
}

function send (response: ServerResponse, status: number, answer: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

/** Creates a server that answers only requests with the secret. */
export function createBroker (emulator: Emulator, secret: string): Server {
  const acts = listActs(emulator)

  async function answer (request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isSecret(request.headers['x-broker-secret'], secret)) {
      send(response, 401, { detail: 'X-Broker-Secret is missing or wrong' })
      return
    }
    const act = acts[`${request.method} ${request.url}`]
    if (act === undefined) send(response, 404, { detail: 'Not Found' })
    else send(response, 200, await act(await readBody(request)))
  }

  return createServer((request, response) => {
    answer(request, response).catch((err: unknown) => {
      const isExpected = err instanceof Refused || err instanceof SyntaxError
      send(response, isExpected ? 400 : 500, { detail: err instanceof Error ? err.message : String(err) })
    })
  })
}
