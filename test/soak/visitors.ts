import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { tryFetch } from '../e2e/server.ts'
import { until } from '../until.ts'
import { Ledger } from './ledger.ts'
import { createRandom } from './random.ts'
import { AUTHORIZATION, WAIT_MS } from './server.ts'

/** The pause of a visitor between two requests, and after one that failed. */
const PAUSE_MS = 20
const BACKOFF_MS = 200
/** Clients give a server up after this time. */
const GIVE_UP_MS = 12_000
const headers = { authorization: AUTHORIZATION }
const sha1Of = (content: string | Buffer) => createHash('sha1').update(content).digest('hex')

export interface VisitorOptions {
  url: string
  seed: number
  visitors: number
  /** The ROMs to which saves are uploaded, one or more for each visitor. */
  roms: readonly number[]
}

export interface Visitors {
  ledger: Ledger
  /** The longest time that any visitor waited for an answer that is no failure. */
  longestMs (): number
  /** Returns the number of writes that were acknowledged so far. */
  written (): number
  /** Ends the visits, and compares all saves of the server with the model. */
  finish (): Promise<void>
}

/** @returns the body; null if the connection ended within it */
const readBody = async (answer: Response): Promise<Buffer | null> =>
  await answer.arrayBuffer().then((bytes) => Buffer.from(bytes), () => null)

interface Answered { status: number, body: Buffer }

/** A save that a visitor uploaded. */
interface Save { id: number, key: string }

function formOf (name: string, content: string): FormData {
  const form = new FormData()
  form.set('saveFile', new Blob([content]), name)
  return form
}

/**
 * Starts visitors of a server that is killed meanwhile: each uploads saves, replaces them, reads them back and lists
 * ROMs. The seed repeats the requests of each visitor, though not their moments.
 */
export function startVisitors (options: VisitorOptions): Visitors {
  const ledger = new Ledger()
  const over = new AbortController()
  const all: Save[] = []
  let longestMs = 0
  let written = 0

  /** @returns null after a failure of the server, or without an answer */
  async function ask (what: string, path: string, init: RequestInit = {}): Promise<Answered | null> {
    const answer = await tryFetch(`${options.url}${path}`, { ...init, headers, signal: AbortSignal.timeout(GIVE_UP_MS) })
    const body = answer === null ? null : await readBody(answer)
    const isOk = ledger.count(what, body === null ? null : answer, body?.toString() ?? '')
    return isOk && answer !== null && body !== null ? { status: answer.status, body } : null
  }

  async function upload (path: string, method: 'POST' | 'PUT', key: string, content: string): Promise<number | null> {
    let id: number | null = null
    await ledger.write(key, sha1Of(content), async () => {
      const answer = await ask(`${method} ${path}`, path, { method, body: formOf(`${key}.srm`, content) })
      if (answer?.status === 200) id = (JSON.parse(answer.body.toString()) as { id: number }).id
      return id !== null
    })
    if (id !== null) written++
    return id
  }

  /** @returns true if the server answered */
  async function readBack ({ id, key }: Save): Promise<boolean> {
    const answer = await ask('GET content', `/api/saves/${id}/content`)
    if (answer !== null) ledger.check(key, answer.status === 200 ? sha1Of(answer.body) : null)
    return answer !== null
  }

  /** @returns true if the server answered */
  async function uploadNew (rom: number | undefined, key: string, content: string, saves: Save[]): Promise<boolean> {
    const id = await upload(`/api/saves?rom_id=${rom}`, 'POST', key, content)
    if (id === null) return false
    saves.push({ id, key })
    all.push({ id, key })
    return true
  }

  async function visit (visitor: number): Promise<void> {
    const random = createRandom(options.seed * 1_000 + visitor)
    const rom = options.roms[visitor % options.roms.length]
    const saves: Save[] = []
    let okAt = performance.now()
    for (let step = 0; !over.signal.aborted; step++) {
      const turn = random()
      const save = saves[Math.floor(random() * saves.length)]
      const content = `visitor ${visitor}, step ${step}, seed ${options.seed}`
      let isOk: boolean
      if (save === undefined || turn < 0.2) {
        isOk = await uploadNew(rom, `save-${visitor}-${step}`, content, saves)
      } else if (turn < 0.5) {
        isOk = await upload(`/api/saves/${save.id}`, 'PUT', save.key, content) !== null
      } else if (turn < 0.8) {
        isOk = await readBack(save)
      } else {
        isOk = await ask('GET list', '/api/roms?limit=20') !== null
      }
      longestMs = Math.max(longestMs, performance.now() - okAt)
      if (isOk) okAt = performance.now()
      await sleep(isOk ? PAUSE_MS : BACKOFF_MS)
    }
  }

  const visits = Array.from({ length: options.visitors }, (_none, visitor) => visit(visitor))

  return {
    ledger,
    longestMs: () => Math.round(longestMs),
    written: () => written,
    async finish () {
      over.abort()
      await Promise.all(visits)
      for (const save of all) await until(() => readBack(save), `the save ${save.key}`, { ms: WAIT_MS })
    }
  }
}
