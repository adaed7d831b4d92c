import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import fc from 'fast-check'

/** A server that may be killed at any moment. */
export interface Host {
  /** Address of the running server. */
  url (): string
  authorization: string
  /** Ends a process of it without warning. */
  kill?: () => Promise<void>
  /** Resolves when it answers again. */
  ready?: () => Promise<void>
}

interface Operation {
  type: 'upload' | 'download' | 'conflict' | 'noop'
  file: string
  destination?: string
  source?: string
  dest_path?: string
  resolution?: string
}
interface Save { id: number, file_name: string, rom_id: number }
const FAMILIES = ['saves', 'states'] as const
type Family = typeof FAMILIES[number]

/** What goes wrong with an operation: nothing, it is left out, breaks off, is done twice, or the device dies there. */
export type Fault = 'none' | 'skip' | 'cut' | 'twice' | 'die' | 'kill'
export type Step =
  | { kind: 'write', device: number, file: number }
  | { kind: 'remove', device: number, file: number }
  | { kind: 'sync', device: number, faults: Fault[], completes: 'once' | 'twice' | 'never' }
  | { kind: 'overwrite' | 'delete' | 'restore', pick: number }
  | { kind: 'kill' }

const FILES = ['Game.srm', 'Game.state1', 'Other name.sav']
const STEPS_MAX = 14
const TRIES_MAX = 20
const sha1Of = (content: Buffer) => createHash('sha1').update(content).digest('hex')

const device = fc.integer({ min: 0, max: 1 })
const file = fc.integer({ min: 0, max: FILES.length - 1 })

/** Histories of two devices and of somebody at the server's own pages. */
export function histories (options: { kills: boolean }): fc.Arbitrary<Step[]> {
  const kill: Fault[] = options.kills ? ['kill'] : []
  const fault = fc.constantFrom<Fault>('none', 'none', 'none', 'skip', 'cut', 'twice', 'die', ...kill)
  const sync = fc.record({
    kind: fc.constant('sync' as const),
    device,
    faults: fc.array(fault, { maxLength: 5 }),
    completes: fc.constantFrom('once' as const, 'once' as const, 'twice' as const, 'never' as const)
  })
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('write' as const), device, file }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), device, file }) },
    { weight: 6, arbitrary: sync },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constantFrom('overwrite' as const, 'delete' as const, 'restore' as const), pick: fc.nat(5) })
    },
    ...(options.kills ? [{ weight: 1, arbitrary: fc.constant({ kind: 'kill' as const }) }] : [])
  )
  return fc.array(step, { minLength: 2, maxLength: STEPS_MAX })
}

class Away extends Error {}

/** A device with files in memory that does what the server tells it, as far as its faults let it. */
class Device {
  readonly files = new Map<string, Buffer>()
  readonly id: number
  readonly #history: History
  /** Milliseconds its clock is wrong. */
  readonly #skew: number

  constructor (history: History, id: number, skew: number) {
    this.#history = history
    this.id = id
    this.#skew = skew
  }

  /** @returns how many operations were to be done */
  async sync (faults: readonly Fault[], completes: 'once' | 'twice' | 'never'): Promise<number> {
    const told = new Map([...this.files].map(([name, content]) => [name, sha1Of(content)]))
    const mtime = new Date(Date.now() + this.#skew).toISOString()
    const saves = [...told].map(([name, sha1]) => ({ file: name, mtime, sha1 }))
    type Plan = { session_id: string, operations: Operation[] }
    const { session_id: session, operations } = await this.#history.post<Plan>(
      '/api/sync/negotiate', { device_id: this.id, roms: [{ rom_id: this.#history.romId, saves }] }
    )
    const work = operations.filter(({ type }) => type !== 'noop')
    let [done, failed] = [0, 0]
    for (const [index, operation] of work.entries()) {
      const fault = faults[index] ?? 'none'
      if (fault === 'die') return work.length
      if (fault === 'kill') await this.#history.kill()
      const isDone = fault !== 'skip' && await this.#carryOut(operation, fault)
      if (isDone && fault === 'twice') await this.#carryOut(operation, fault)
      if (isDone) done++
      else failed++
    }
    const body = { operations_completed: done, operations_failed: failed, play_sessions: [] }
    const times = { once: 1, twice: 2, never: 0 }[completes]
    for (let time = 0; time < times; time++) await this.#history.post(`/api/sync/sessions/${session}/complete`, body)
    return work.length
  }

  async #carryOut (operation: Operation, fault: Fault): Promise<boolean> {
    const { type, file: name, destination, source, dest_path: place = name, resolution } = operation
    const content = this.files.get(name)
    if (type !== 'download' && destination !== undefined && content !== undefined) {
      if (fault === 'cut') {
        await this.#history.cutUpload(destination, name, content)
        return false
      }
      if (!await this.#history.upload(destination, name, content)) return false
    }
    if (type === 'upload' || source === undefined || (type === 'conflict' && resolution === 'device_wins')) return true
    const fetched = await this.#history.download(source)
    if (fetched === null || fault === 'cut') return false
    const target = place.split('/').at(-1) ?? place
    const replaced = this.files.get(target)
    if (replaced !== undefined) this.#history.replaced.add(sha1Of(replaced))
    this.files.set(target, fetched)
    return true
  }
}

/** One run of steps against a ROM of its own. */
export class History {
  readonly host: Host
  readonly romId: number
  /** Digests of all content that the server took. */
  readonly accepted = new Set<string>()
  /** Digests of all content of devices whose place a download took: the server must have it, or it is gone. */
  readonly replaced = new Set<string>()
  /** Names that somebody took away on one side; the other side is not told to do the same. */
  readonly #withdrawn = new Set<string>()
  readonly #devices: Device[] = []
  /** Whether nothing is killed, so that whoever finds the server away may wait for it. */
  #isCalm = true

  constructor (host: Host, romId: number) {
    this.host = host
    this.romId = romId
  }

  async start (): Promise<void> {
    for (const [name, skew] of [['one', -86_400_000 * 400], ['two', 86_400_000 * 3]] as const) {
      const { id } = await this.post<{ id: number }>('/api/devices', { name, allow_duplicate: true })
      this.#devices.push(new Device(this, id, skew))
    }
  }

  async kill (): Promise<void> {
    await this.host.kill?.()
    await this.host.ready?.()
  }

  async run (steps: readonly Step[]): Promise<void> {
    this.#isCalm = false
    for (const step of steps) {
      try {
        await this.#take(step)
      } catch (err) {
        // The server was killed under a request: the one who asked gives up, and both go on.
        if (!(err instanceof Away)) throw err
      }
    }
    this.#isCalm = true
  }

  async #take (step: Step): Promise<void> {
    if (step.kind === 'kill') {
      await this.kill()
    } else if (step.kind === 'write') {
      this.#devices[step.device]?.files.set(FILES[step.file] ?? '', randomBytes(24))
    } else if (step.kind === 'remove') {
      this.#devices[step.device]?.files.delete(FILES[step.file] ?? '')
      this.#withdrawn.add(FILES[step.file] ?? '')
    } else if (step.kind === 'sync') {
      await this.#devices[step.device]?.sync(step.faults, step.completes)
    } else {
      await this.#act(step.kind, step.pick)
    }
  }

  /** Somebody at the server's own pages. */
  async #act (kind: 'overwrite' | 'delete' | 'restore', pick: number): Promise<void> {
    const lists = await Promise.all(FAMILIES.map(async (family) =>
      (await this.#list(family, kind === 'restore' ? 'deleted' : 'live')).map((save) => ({ family, ...save }))))
    const list = lists.flat()
    const picked = list[pick % Math.max(list.length, 1)]
    if (picked === undefined) return
    const { family, id, file_name: name } = picked
    if (kind === 'delete') this.#withdrawn.add(name)
    if (kind === 'delete') await this.post(`/api/${family}/delete`, { [family]: [id] })
    else if (kind === 'restore') await this.post(`/api/${family}/${id}/restore`, {})
    else await this.upload(`/api/${family}/${id}`, name, randomBytes(24), 'PUT')
  }

  /** Syncs both devices in turns, undisturbed. @returns whether there was nothing left to do at last */
  async settle (): Promise<boolean> {
    for (let round = 0; round < 6; round++) {
      let work = 0
      for (const one of this.#devices) work += await one.sync([], 'once')
      if (work === 0) return true
    }
    return false
  }

  /** Plays the steps and looks at what is left of it all. @throws Error saying what went wrong */
  async check (steps: readonly Step[]): Promise<void> {
    await this.start()
    try {
      await this.run(steps)
      await this.#look()
    } finally {
      // A user has so many devices at most.
      for (const { id } of this.#devices) await this.#fetch(`/api/devices/${id}`, { method: 'DELETE' }).catch(() => {})
    }
  }

  async #look (): Promise<void> {
    const isSettled = await this.settle()
    const downloadable = await this.findDownloadable()
    const lost = [...this.accepted, ...this.replaced].filter((sha1) => !downloadable.has(sha1))
    if (lost.length > 0) throw new Error(`Lost: ${lost.join(', ')}`)
    if (!isSettled) throw new Error('The devices never come to rest')
    const [one, two] = [0, 1].map((index) => this.#listFiles(index).join('\n'))
    if (one !== two) throw new Error(`The devices differ:\n${one}\nand\n${two}`)
  }

  /** Name and digest of each file of a device, without those that were taken away somewhere. */
  #listFiles (index: number): string[] {
    const files = [...this.#devices[index]?.files ?? []].filter(([name]) => !this.#withdrawn.has(name))
    return files.map(([name, content]) => `${name} ${sha1Of(content)}`).sort()
  }

  /** Digests of all content that can still be downloaded. */
  async findDownloadable (): Promise<Set<string>> {
    const found = new Set<string>()
    for (const family of FAMILIES) {
      for (const which of ['live', 'deleted'] as const) {
        for (const { id } of await this.#list(family, which)) {
          const versions = await this.get<{ id: number }[]>(`/api/${family}/${id}/versions`)
          const paths = [`/api/${family}/${id}/content`, ...versions.map((version) =>
            `/api/${family}/${id}/versions/${version.id}/content`)]
          for (const path of paths) {
            const content = await this.download(path)
            if (content !== null) found.add(sha1Of(content))
          }
        }
      }
    }
    return found
  }

  async #list (family: Family, which: 'live' | 'deleted'): Promise<Save[]> {
    const saves = await this.get<Save[]>(`/api/${family}${which === 'live' ? '' : '/deleted'}`)
    return saves.filter((save) => save.rom_id === this.romId)
  }

  async #fetch (path: string, init: RequestInit = {}): Promise<Response> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#fetchOnce(path, init)
      } catch (err) {
        // What was killed last may still be coming back.
        if (!(err instanceof Away) || !this.#isCalm || tries > TRIES_MAX) throw err
        await this.host.ready?.()
      }
    }
  }

  async #fetchOnce (path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set('authorization', this.host.authorization)
    const answer = await fetch(this.host.url() + path, { ...init, headers }).catch((err: unknown) => {
      throw new Away(`${path}: the server is away`, { cause: err })
    })
    // A worker whose database was killed may say so; anything else of that sort is a fault.
    if (answer.status >= 500 && this.host.kill !== undefined) throw new Away(`${path} answered ${answer.status}`)
    return answer
  }

  async #json<T>(path: string, init?: RequestInit): Promise<T> {
    const answer = await this.#fetch(path, init)
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    return await answer.json() as T
  }

  get = async <T>(path: string): Promise<T> => await this.#json<T>(path)

  post = async <T>(path: string, body: object): Promise<T> => await this.#json<T>(path, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body)
  })

  /** @returns false when the server did not take it because the file changed meanwhile */
  async upload (path: string, name: string, content: Buffer, method = 'POST'): Promise<boolean> {
    const form = new FormData()
    form.append('saveFile', new Blob([content]), name)
    const answer = await this.#fetch(path, { method, body: form })
    if (answer.status === 409) return false
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    this.accepted.add(sha1Of(content))
    return true
  }

  /** Sends half of an upload and hangs up. */
  async cutUpload (path: string, name: string, content: Buffer): Promise<void> {
    const boundary = 'cut-off'
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="saveFile"; filename="${name}"\r\n\r\n`
    const sending = request(this.host.url() + path, {
      method: 'POST',
      headers: {
        authorization: this.host.authorization,
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': head.length + content.length + boundary.length + 8
      }
    })
    const over = new Promise<void>((resolve) => { sending.on('close', resolve).on('error', () => resolve()) })
    sending.write(head)
    await new Promise<void>((resolve) => { sending.write(content.subarray(0, content.length / 2), () => resolve()) })
    sending.destroy()
    await over
  }

  /** Null when it is not there any more. */
  async download (path: string): Promise<Buffer | null> {
    const answer = await this.#fetch(path)
    if (answer.status === 404) return null
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
    return Buffer.from(await answer.arrayBuffer())
  }
}
