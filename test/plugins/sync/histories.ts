import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import fc from 'fast-check'

/** A server that may be killed at any moment. */
export interface Host {
  /** Address of the running server. */
  url (): string
  authorization: string
  /** Kills a process of the server without warning. */
  kill?: () => Promise<void>
  /** Resolves when the server responds again. */
  ready?: () => Promise<void>
}

interface Operation {
  type: 'upload' | 'download' | 'conflict' | 'noop'
  file: string
  destination?: string
  source?: string
}
interface Plan<Operation> { session_id: number | string, operations: Operation[] }
interface SlotOperation { action: 'upload' | 'download' | 'conflict' | 'no_op', save_id: number | null, slot: string }
interface Save {
  id: number
  rom_id: number
  file_name: string
  sha1: string
  conflict_of: number | null
  slot?: string | null
}
const FAMILIES = ['saves', 'states'] as const
type Family = typeof FAMILIES[number]

/** A fault of an operation: none, skipped, cut off, done twice, or the device or the server dies there. */
export type Fault = 'none' | 'skip' | 'cut' | 'twice' | 'die' | 'kill'
type Completes = 'once' | 'twice' | 'never'
const ACTS = ['overwrite', 'delete', 'restore', 'restore version'] as const
export type Step =
  | { kind: 'write', device: number, file: number }
  | { kind: 'remove', device: number, file: number }
  | { kind: 'sync', device: number, faults: Fault[], completes: Completes }
  | { kind: 'put', file: number, isSlotted: boolean }
  | { kind: typeof ACTS[number], pick: number }
  | { kind: 'kill' }

const FILES = ['Game.srm', 'Game.state1', 'Other name.sav']
/** The slot of each file for devices that use slots; states have none. */
const SLOTS = new Map([['Game.srm', 'main'], ['Other name.sav', 'other']])
const ROUNDS_MAX = 10
const TRIES_MAX = 20
const digest = (algorithm: 'sha1' | 'md5', content: Buffer) => createHash(algorithm).update(content).digest('hex')
const sha1Of = (content: Buffer) => digest('sha1', content)
const untagged = (name: string) => name.replace(/ \[[^\]]*\]/, '')

const DEVICES = [0, 1, 2]
const device = fc.constantFrom(...DEVICES)
/** Mostly the same file, because faults need many steps with one file. */
const file = fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 2)

const sync = (device: number): Step => ({ kind: 'sync', device, faults: [], completes: 'once' })
const write = (device: number, file = 0): Step => ({ kind: 'write', device, file })

/** Generates histories of two devices that list by file, one that lists by slot, and a user in the web pages. */
export function histories (options: { kills: boolean }): fc.Arbitrary<Step[]> {
  const kill: Fault[] = options.kills ? ['kill'] : []
  const fault = fc.constantFrom<Fault>('none', 'none', 'none', 'skip', 'cut', 'twice', 'die', ...kill)
  const faultySync: fc.Arbitrary<Step> = fc.record({
    kind: fc.constant('sync' as const),
    device,
    faults: fc.array(fault, { maxLength: 5 }),
    completes: fc.constantFrom('once' as const, 'once' as const, 'twice' as const, 'never' as const)
  })
  const remove: fc.Arbitrary<Step> = fc.record({ kind: fc.constant('remove' as const), device, file })
  const act: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom(...ACTS, 'delete' as const, 'delete' as const, 'restore version' as const),
    pick: fc.constantFrom(0, 0, 0, 0, 1, 1, 2)
  })
  const put: fc.Arbitrary<Step> = fc.record({
    kind: fc.constant('put' as const), file, isSlotted: fc.constantFrom(true, true, false)
  })
  const change: fc.Arbitrary<Step[]> = fc.oneof(
    put.map((step) => [step]),
    fc.tuple(device, file).map(([by, of]) => [write(by, of)]),
    // One device changed a file, and another one did not sync since.
    fc.tuple(device, fc.constantFrom(1, 2), file).map(([one, step, of]) =>
      [write(one, of), write((one + step) % DEVICES.length, of), sync(one)])
  )
  const ALL = DEVICES.map(sync)
  const round: fc.Arbitrary<Step[]> = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(change, act).map(([steps, step]) => [...steps, ...ALL, step, ...ALL]) },
    { weight: 1, arbitrary: fc.tuple(change, faultySync).map(([steps, last]) => [...steps, last]) },
    { weight: 1, arbitrary: fc.tuple(remove, faultySync) },
    ...(options.kills ? [{ weight: 1, arbitrary: fc.constant<Step[]>([{ kind: 'kill' }]) }] : [])
  )
  return fc.array(round, { minLength: 4, maxLength: ROUNDS_MAX, size: 'max' }).map((rounds) => rounds.flat())
}

/** Histories that once failed; they are always replayed. */
export const EXAMPLES: [Step[]][] = [
  // A deleted file came back from a device that had held another save of the same name.
  [[write(0), sync(0), { kind: 'put', file: 0, isSlotted: true }, sync(0), { kind: 'delete', pick: 0 }, sync(0)]],
  // A restored version was undone by the device that had resolved the conflict.
  [[write(0), sync(0), sync(1), write(0), sync(0), write(1), sync(1), { kind: 'restore version', pick: 1 }, sync(1)]]
]

class Away extends Error {}

/** An operation of a device for one of its files. */
interface Work {
  name: string
  action: 'upload' | 'download' | 'conflict'
  /** Upload path for the device's content, if any. */
  destination: string | null
  /** Download path for the server's content, if any. */
  source: string | null
}

/** A device with files in memory that carries out the server's operations, as far as its faults allow. */
abstract class Device {
  readonly files = new Map<string, Buffer>()
  readonly id: number
  /** Names whose content came from or went to the server and did not change on the device since. */
  readonly #untouched = new Set<string>()
  readonly history: History
  /** Error of the device's clock in milliseconds. */
  readonly #skew: number

  constructor (history: History, id: number, skew: number) {
    this.history = history
    this.id = id
    this.#skew = skew
  }

  /** Negotiates with the server, in the dialect of the device. */
  protected abstract negotiate (time: string): Promise<{ session: number | string, work: Work[] }>
  /** Returns the save whose content the device should end with. */
  abstract findNewest (name: string, newestFirst: readonly Save[]): Save | undefined

  write (name: string): void {
    this.files.set(name, randomBytes(24))
    this.#untouched.delete(name)
  }

  /** @returns the number of operations */
  async sync (faults: readonly Fault[], completes: Completes): Promise<number> {
    const { session, work } = await this.negotiate(new Date(Date.now() + this.#skew).toISOString())
    const undone = work.find(({ name, action }) => action !== 'download' && this.#untouched.has(name))
    if (undone !== undefined) {
      throw new Error(`'${undone.name}' is as the server gave or took it, and was to be sent: ${undone.action}`)
    }
    let [done, failed] = [0, 0]
    for (const [index, operation] of work.entries()) {
      const fault = faults[index] ?? 'none'
      if (fault === 'die') return work.length
      if (fault === 'kill') await this.history.kill()
      const isDone = fault !== 'skip' && await this.#carryOut(operation, fault)
      if (isDone && fault === 'twice') await this.#carryOut(operation, fault)
      if (isDone) done++
      else failed++
    }
    const body = { operations_completed: done, operations_failed: failed, play_sessions: [] }
    const times = { once: 1, twice: 2, never: 0 }[completes]
    for (let time = 0; time < times; time++) await this.history.post(`/api/sync/sessions/${session}/complete`, body)
    return work.length
  }

  async #carryOut ({ name, destination, source }: Work, fault: Fault): Promise<boolean> {
    const content = this.files.get(name)
    if (destination !== null && content !== undefined) {
      if (fault === 'cut') {
        await this.history.cutUpload(destination, name, content)
        return false
      }
      if (!await this.history.upload(destination, name, content)) return false
    }
    if (source !== null) {
      const fetched = await this.history.download(source)
      if (fetched === null || fault === 'cut') return false
      if (content !== undefined) this.history.replaced.add(sha1Of(content))
      this.files.set(name, fetched)
    }
    this.#untouched.add(name)
    return true
  }
}

/** A device that only follows the specification. */
class FileDevice extends Device {
  async negotiate (mtime: string) {
    const saves = [...this.files].map(([file, content]) => ({ file, mtime, sha1: sha1Of(content) }))
    const { session_id: session, operations } = await this.history.post<Plan<Operation>>(
      '/api/sync/negotiate', { device_id: this.id, roms: [{ rom_id: this.history.romId, saves }] })
    const work = operations.flatMap(({ type: action, file: name, destination = null, source = null }): Work[] =>
      action === 'noop' ? [] : [{ name, action, destination, source }])
    return { session, work }
  }

  findNewest (name: string, newestFirst: readonly Save[]): Save | undefined {
    return newestFirst.find((save) => save.conflict_of === null && untagged(save.file_name) === name)
  }
}

/** An app that stores each file in a slot; in a conflict it stores its own file beside the slot. */
class SlotDevice extends Device {
  override write (name: string): void {
    if (SLOTS.has(name)) super.write(name)
  }

  async negotiate (time: string) {
    const { romId } = this.history
    const saves = [...this.files].map(([name, content]) => ({
      rom_id: romId,
      file_name: name,
      slot: SLOTS.get(name),
      content_hash: digest('md5', content),
      updated_at: time,
      file_size_bytes: content.length
    }))
    const { session_id: session, operations } = await this.history.post<Plan<SlotOperation>>(
      '/api/sync/negotiate', { device_id: this.id, saves, rom_ids: [romId] })
    const work = operations.flatMap(({ action, save_id: id, slot }): Work[] => {
      const name = [...SLOTS].find(([, of]) => of === slot)?.[0]
      if (name === undefined || !['upload', 'download', 'conflict'].includes(action)) return []
      const of = `device_id=${this.id}&session_id=${session}`
      const place = action === 'upload' ? `slot=${slot}` : 'overwrite=true'
      return [{
        name,
        action: action as Work['action'],
        destination: action === 'download' ? null : `/api/saves?rom_id=${romId}&${of}&${place}`,
        source: action === 'upload' ? null : `/api/saves/${id}/content?${of}`
      }]
    })
    return { session, work }
  }

  findNewest (name: string, newestFirst: readonly Save[]): Save | undefined {
    const slot = SLOTS.get(name)
    return newestFirst.find((save) => slot !== undefined && save.conflict_of === null && save.slot === slot)
  }
}

/** One run of steps with a ROM of its own. */
export class History {
  readonly host: Host
  readonly romId: number
  /** Digests of all content that the server accepted. */
  readonly accepted = new Set<string>()
  /** Digests of device content that a download replaced: without a copy on the server it would be lost. */
  readonly replaced = new Set<string>()
  /** Names that were removed on one side; the other side is not expected to remove them. */
  readonly #withdrawn = new Set<string>()
  readonly #devices: Device[] = []
  /** True if no process is killed, which means that waiting for the server is safe. */
  #isCalm = true

  constructor (host: Host, romId: number) {
    this.host = host
    this.romId = romId
  }

  async start (): Promise<void> {
    const kinds = [[FileDevice, -86_400_000 * 400], [FileDevice, 86_400_000 * 3], [SlotDevice, 0]] as const
    for (const [Kind, skew] of kinds) {
      const { id } = await this.post<{ id: number }>('/api/devices', { name: Kind.name, allow_duplicate: true })
      this.#devices.push(new Kind(this, id, skew))
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
        // The server was killed during a request: the client gives up, and both continue.
        if (!(err instanceof Away)) throw err
      }
    }
    this.#isCalm = true
  }

  async #take (step: Step): Promise<void> {
    if (step.kind === 'kill') {
      await this.kill()
    } else if (step.kind === 'write') {
      this.#devices[step.device]?.write(FILES[step.file] ?? '')
    } else if (step.kind === 'remove') {
      this.#devices[step.device]?.files.delete(FILES[step.file] ?? '')
      this.#withdrawn.add(FILES[step.file] ?? '')
    } else if (step.kind === 'sync') {
      await this.#devices[step.device]?.sync(step.faults, step.completes)
    } else if (step.kind === 'put') {
      await this.#put(FILES[step.file] ?? '', step.isSlotted)
    } else {
      await this.#act(step.kind, step.pick)
    }
  }

  /** Uploads a file as a user of the web pages, with or without its slot. */
  async #put (name: string, isSlotted: boolean): Promise<void> {
    const slot = SLOTS.get(name)
    const family = name.includes('.state') ? 'states' : 'saves'
    const place = isSlotted && slot !== undefined ? `&slot=${slot}` : ''
    await this.upload(`/api/${family}?rom_id=${this.romId}${place}`, name, randomBytes(24))
  }

  /** Changes an existing file as a user of the web pages. */
  async #act (kind: typeof ACTS[number], pick: number): Promise<void> {
    const lists = await Promise.all(FAMILIES.map(async (family) =>
      (await this.#list(family, kind === 'restore' ? 'deleted' : 'live')).map((save) => ({ family, ...save }))))
    // A conflict copy has no version to restore.
    const list = lists.flat().filter((save) => kind !== 'restore version' || save.conflict_of === null)
    const picked = list[pick % Math.max(list.length, 1)]
    if (picked === undefined) return
    const { family, id, file_name: name } = picked
    if (kind === 'delete') this.#withdrawn.add(untagged(name))
    if (kind === 'delete') await this.post(`/api/${family}/delete`, { [family]: [id] })
    else if (kind === 'restore') await this.#restore(`/api/${family}/${id}/restore`)
    else if (kind === 'restore version') {
      const versions = await this.get<{ id: number }[]>(`/api/${family}/${id}/versions`)
      const version = versions[pick % Math.max(versions.length, 1)]
      if (version !== undefined) await this.#restore(`/api/${family}/${id}/versions/${version.id}/restore`)
    } else await this.upload(`/api/${family}/${id}`, name, randomBytes(24), 'PUT')
  }

  /** Restores a file; a conflict is fine, because another file may have its name by now. */
  async #restore (path: string): Promise<void> {
    const answer = await this.#fetch(path, { method: 'POST' })
    if (!answer.ok && answer.status !== 409) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  }

  /** Syncs all devices in turns without faults. @returns true if no operation is left */
  async settle (): Promise<boolean> {
    for (let round = 0; round < 6; round++) {
      let work = 0
      for (const one of this.#devices) work += await one.sync([], 'once')
      if (work === 0) return true
    }
    return false
  }

  /** Plays the steps and checks the result. @throws Error that names the fault */
  async check (steps: readonly Step[]): Promise<void> {
    await this.start()
    try {
      await this.run(steps)
      await this.#look()
    } finally {
      // The number of devices per user is limited.
      for (const { id } of this.#devices) await this.#fetch(`/api/devices/${id}`, { method: 'DELETE' }).catch(() => {})
    }
  }

  async #look (): Promise<void> {
    const isSettled = await this.settle()
    const downloadable = await this.findDownloadable()
    const lost = [...this.accepted, ...this.replaced].filter((sha1) => !downloadable.has(sha1))
    if (lost.length > 0) throw new Error(`Lost: ${lost.join(', ')}`)
    if (!isSettled) throw new Error('The devices never come to rest')
    await this.#compare()
  }

  /** Checks that each device has the newest content of the server, except for files that were removed on one side. */
  async #compare (): Promise<void> {
    const saves = [...await this.#list('saves', 'live'), ...await this.#list('states', 'live')]
    for (const [index, one] of this.#devices.entries()) {
      for (const name of FILES) {
        const content = one.files.get(name)
        const [held, newest] = [content && sha1Of(content), one.findNewest(name, saves)?.sha1]
        if (held === newest || this.#withdrawn.has(name)) continue
        throw new Error(`Device ${index} has ${held} of '${name}', the server ${newest}`)
      }
    }
  }

  /** Returns the digests of all content that can still be downloaded. */
  async findDownloadable (): Promise<Set<string>> {
    const found = new Set<string>()
    for (const family of FAMILIES) {
      for (const which of ['live', 'deleted'] as const) {
        for (const { id } of await this.#list(family, which)) {
          const versions = await this.get<{ id: number }[]>(`/api/${family}/${id}/versions`)
          const paths = [`/api/${family}/${which === 'live' ? '' : 'deleted/'}${id}/content`, ...versions.map((version) =>
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
        // The process that was killed last may still be starting.
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
    // A worker whose database was killed may answer 5xx; without kills any 5xx is a bug.
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

  /** @returns false if the server refused the upload because the file changed meanwhile */
  async upload (path: string, name: string, content: Buffer, method = 'POST'): Promise<boolean> {
    const form = new FormData()
    form.append('saveFile', new Blob([content]), name)
    const answer = await this.#fetch(path, { method, body: form })
    if (answer.status === 409) return false
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    this.accepted.add(sha1Of(content))
    return true
  }

  /** Sends half of an upload and closes the connection. */
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

  /** Returns null if the file no longer exists. */
  async download (path: string): Promise<Buffer | null> {
    const answer = await this.#fetch(path)
    if (answer.status === 404) return null
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
    return Buffer.from(await answer.arrayBuffer())
  }
}
