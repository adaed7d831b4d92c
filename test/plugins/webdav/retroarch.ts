import { createHash } from 'node:crypto'
import { Agent, request } from 'node:http'

/** A response as RetroArch reads it. */
export interface Reply { status: number, body: Buffer, headers: Record<string, string | string[] | undefined> }

export const md5Of = (content: Buffer) => createHash('md5').update(content).digest('hex')

const UNESCAPED = /[A-Za-z0-9*\-._/]/
/** Percent-encodes a path byte by byte, as RetroArch does. */
export const encodePath = (path: string): string => [...Buffer.from(path)].map((byte) => {
  const character = String.fromCharCode(byte)
  return UNESCAPED.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}).join('')

/** A fault of a request: not sent, done but its response lost, or none. */
export type Fault = 'none' | 'skip' | 'lost'
/** How the user resolves conflicts: never (up to 1.22.2), or by the menu of newer releases. */
export type Choice = 'none' | 'local' | 'server'

export interface SyncOptions {
  /** Faults of the requests that follow the list, in order. */
  faults?: readonly Fault[]
  choice?: Choice
  /** Runs after the client read the list and before it sends anything else. */
  between?: () => Promise<void>
}

type Action = 'get' | 'put' | 'delete' | 'remove' | 'note' | 'conflict' | 'nothing'

/** The client's decision about a path, by hashes: empty for a deletion, undefined for none. */
export function decideAction (
  server: string | undefined, local: string | undefined, current: string | undefined
): Action {
  if (server === undefined) return current === undefined ? 'nothing' : 'put'
  if (current === undefined) {
    if (server === '') return 'note'
    if (local === undefined || local === '') return 'get'
    return server === local ? 'delete' : 'conflict'
  }
  if (server === current) return 'note'
  if (local === undefined) return 'conflict'
  if (server === local) return 'put'
  if (local !== current) return 'conflict'
  return server === '' ? 'remove' : 'get'
}

/** The cloud sync of RetroArch with files in memory. */
export class RetroArch {
  readonly files = new Map<string, Buffer>()
  /** `manifest.local`: the hash of each path that the client and the server last agreed on. */
  readonly local = new Map<string, string>()
  /** Contents that the server acknowledged. */
  readonly acknowledged: Buffer[] = []
  readonly conflicts: string[] = []
  readonly #base: string
  readonly #authorization: string
  readonly #agent = new Agent({ keepAlive: true })

  /** @param base the address of the sync, with a slash at its end */
  constructor (base: string, authorization: string) {
    this.#base = base
    this.#authorization = authorization
  }

  async send (method: string, path: string, body?: Buffer, more: Record<string, string> = {}): Promise<Reply> {
    return await new Promise((resolve, reject) => {
      const { hostname, port, pathname } = new URL(this.#base)
      // A URL as a whole would lose dot segments, which RetroArch sends as they are.
      const sent = request({
        hostname,
        port,
        path: pathname + encodePath(path),
        method,
        agent: this.#agent,
        headers: {
          'user-agent': 'libretro',
          authorization: this.#authorization,
          ...(body === undefined ? {} : { 'content-length': body.length, expect: '100-continue' }),
          ...more
        }
      }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => { chunks.push(chunk) })
        response.on('end', () => { resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks), headers: response.headers }) })
        response.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  async #makeFolders (path: string): Promise<void> {
    const parts = path.split('/').slice(0, -1)
    for (let depth = 1; depth <= parts.length; depth++) {
      const { status } = await this.send('MKCOL', `${parts.slice(0, depth).join('/')}/`)
      if (status >= 400 && status !== 405) throw new Error(`MKCOL ${status}`)
    }
  }

  async put (path: string, content: Buffer): Promise<Reply> {
    await this.#makeFolders(path)
    return await this.send('PUT', path, content)
  }

  /** Deletes as RetroArch does by default: by a move. */
  async delete (path: string): Promise<Reply> {
    const target = `deleted/${path}-261123-101500`
    await this.#makeFolders(target)
    return await this.send('MOVE', path, undefined, { destination: this.#base + encodePath(target) })
  }

  async readList (): Promise<Map<string, string>> {
    const { status, body } = await this.send('GET', 'manifest.server')
    if (status !== 200) throw new Error(`manifest.server: ${status}`)
    const entries = JSON.parse(body.toString()) as { path: string, hash: string }[]
    return new Map(entries.map(({ path, hash }) => [path, hash]))
  }

  async #carryOut (action: Action, path: string, server: string | undefined, isLost: boolean): Promise<boolean> {
    const current = this.files.get(path)
    if (action === 'put' && current !== undefined) {
      const { status } = await this.put(path, current)
      if (status >= 300) throw new Error(`PUT ${path}: ${status}`)
      this.acknowledged.push(current)
      if (!isLost) this.local.set(path, md5Of(current))
    } else if (action === 'get') {
      const { status, body } = await this.send('GET', path)
      if (status !== 200 || body.length === 0 || isLost) return false
      this.files.set(path, body)
      this.local.set(path, md5Of(body))
    } else if (action === 'delete') {
      const { status } = await this.delete(path)
      if (status >= 300) throw new Error(`MOVE ${path}: ${status}`)
      if (!isLost) this.local.set(path, '')
    } else if (action === 'remove') {
      this.files.delete(path)
      this.local.set(path, '')
    } else if (action === 'note' && server !== undefined) {
      this.local.set(path, server)
    }
    return action === 'put' || action === 'delete'
  }

  #resolve (path: string, choice: Choice): Action {
    this.conflicts.push(path)
    if (choice === 'local' && this.files.has(path)) return 'put'
    if (choice === 'server') return 'get'
    this.local.delete(path)
    return 'nothing'
  }

  /** Syncs once, as at the start of the program. */
  async sync ({ faults = [], choice = 'none', between }: SyncOptions = {}): Promise<void> {
    const options = await this.send('OPTIONS', '')
    if (options.status !== 200 || !String(options.headers.allow).includes('PUT')) throw new Error(`OPTIONS: ${options.status}`)
    const list = await this.readList()
    await between?.()
    const remaining = [...faults]
    let isChanged = false
    for (const path of new Set([...list.keys(), ...this.local.keys(), ...this.files.keys()])) {
      const content = this.files.get(path)
      const server = list.get(path)
      const decided = decideAction(server, this.local.get(path), content === undefined ? undefined : md5Of(content))
      const action = decided === 'conflict' ? server === '' ? this.#resolve(path, 'none') : this.#resolve(path, choice) : decided
      const isSent = action === 'put' || action === 'get' || action === 'delete'
      const fault = isSent ? remaining.shift() ?? 'none' : 'none'
      if (fault === 'skip') continue
      if (await this.#carryOut(action, path, server, fault === 'lost')) isChanged = true
    }
    if (isChanged) await this.send('PUT', 'manifest.server', Buffer.from('[]'))
  }

  close (): void { this.#agent.destroy() }
}
