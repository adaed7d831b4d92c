import { createHash, randomBytes } from 'node:crypto'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { createClient, createForm } from '../assets/support.ts'
import type { TestApp } from '../../support.ts'
import { addGame, baseOf, createToken } from './support.ts'
import { type Choice, type Fault, RetroArch } from './retroarch.ts'

type Headers = Record<string, string>

const DEVICES = [0, 1]
const PATHS = ['saves/Snes9x/Game.srm', 'states/Snes9x/Game.state1'] as const
const NAMES = ['Game.srm', 'Game.state1'] as const
const ROUTES = ['/api/saves', '/api/states'] as const

type Change =
  | { kind: 'write', device: number, path: number }
  | { kind: 'remove', device: number, path: number }
  /** A device goes back to a content that it had before. */
  | { kind: 'return', device: number, path: number, pick: number }
  | { kind: 'sync', device: number, faults: Fault[], choice: Choice }
  /** The third device lists by file, through the API. */
  | { kind: 'negotiate', isWritten: boolean, path: number }
  /** The owner uploads to the slot, deletes, or restores, in the web pages. */
  | { kind: 'upload', path: number }
  | { kind: 'delete', path: number }
  | { kind: 'restore', path: number }
/** A step; a sync may have steps of others between its list and its other requests. */
export type Step = Change & { between?: Change[] }

const device = fc.constantFrom(...DEVICES)
const path = fc.constantFrom(0, 0, 0, 1)
const write: fc.Arbitrary<Change> = fc.record({ kind: fc.constant('write' as const), device, path })
const plainSync: fc.Arbitrary<Change> = fc.record({
  kind: fc.constant('sync' as const), device, faults: fc.constant<Fault[]>([]), choice: fc.constant<Choice>('none')
})
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: write },
  { weight: 5, arbitrary: plainSync },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('sync' as const),
      device,
      faults: fc.array(fc.constantFrom<Fault>('none', 'none', 'skip', 'lost'), { maxLength: 3 }),
      choice: fc.constantFrom<Choice>('none', 'none', 'local', 'server')
    })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), device, path }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('return' as const), device, path, pick: fc.nat(5) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('negotiate' as const), isWritten: fc.boolean(), path }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('upload' as const), path }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), path }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restore' as const), path }) }
)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: change },
  {
    weight: 1,
    arbitrary: fc.tuple(plainSync, fc.array(change, { minLength: 1, maxLength: 3 }))
      .map(([sync, between]) => ({ ...sync, between }))
  }
)

/** Generates histories of two devices with RetroArch, one with another app, and their owner in the web pages. */
export const histories = fc.array(step, { minLength: 4, maxLength: 25, size: 'max' })

const sha1Of = (content: Buffer) => createHash('sha1').update(content).digest('hex')
interface Operation { type: 'upload' | 'download' | 'conflict' | 'noop', file: string, destination?: string, source?: string }
interface Item { id: number, file_name: string, sha1: string, conflict_of: number | null }

/** Rounds in which devices that disagree, and report no conflict, must come to agree. */
const ROUNDS_MAX = 45

/** One run of steps, of a user of its own. */
export class History {
  readonly #test: TestApp
  readonly #headers: Headers
  readonly #devices: RetroArch[] = []
  /** Contents that the server acknowledged, as SHA-1. */
  readonly #acknowledged = new Set<string>()
  /** The contents that each content was made from. */
  readonly #parents = new Map<string, readonly string[]>()
  /** Contents that a person chose although the server had others: they may replace any content. */
  readonly #chosen = new Set<string>()
  readonly #own = new Map<string, Buffer>()
  readonly #former = new Map<string, Buffer[]>()
  /** The contents that a device gave up when it went back to an older one, by device and path. */
  readonly #returns = new Map<string, { to: string, from: readonly string[] }>()
  #client: ReturnType<typeof createClient>
  /** The content of each save and state after the last step. */
  #before: ReadonlyMap<string, string> = new Map()
  readonly #syncing = new Set<number>()
  #appDevice = 0
  #romId = 0

  constructor (test: TestApp, headers: Headers) {
    this.#test = test
    this.#headers = headers
    this.#client = createClient(test, headers)
  }

  async start (): Promise<void> {
    this.#romId = await addGame(this.#test, 'Game')
    for (const number of DEVICES) {
      const { authorization } = await createToken(this.#test, this.#headers, `RetroArch ${number}`)
      this.#devices.push(new RetroArch(await baseOf(this.#test), authorization))
    }
    const reply = await this.#client.call('POST', '/api/devices', { name: 'App', allow_duplicate: true })
    this.#appDevice = reply.json<{ id: number }>().id
  }

  close (): void { for (const one of this.#devices) one.close() }

  /** @param place the device and path where a person makes the content, who knows what was given up there */
  #make (parent: Buffer | undefined, place = ''): Buffer {
    const content = randomBytes(16)
    this.#parents.set(sha1Of(content), parent === undefined ? [] : [sha1Of(parent), ...this.#givenUpFor(place, parent)])
    return content
  }

  /** Returns the contents that a device gave up for this one. */
  #givenUpFor (place: string, content: Buffer): readonly string[] {
    const { to, from = [] } = this.#returns.get(place) ?? {}
    return to === sha1Of(content) ? from : []
  }

  async #sync (at: number, step: Extract<Step, { kind: 'sync' }> & Step): Promise<void> {
    const client = this.#devices[at]
    // RetroArch syncs once at a time.
    if (client === undefined || this.#syncing.has(at)) return
    const { between = [] } = step
    this.#syncing.add(at)
    if (step.choice === 'local') for (const content of client.files.values()) this.#chosen.add(sha1Of(content))
    await client.sync({
      faults: step.faults,
      choice: step.choice,
      between: async () => { for (const one of between) await this.#play(one) }
    })
    this.#syncing.delete(at)
    for (const content of client.acknowledged) this.#acknowledged.add(sha1Of(content))
  }

  async #send (url: string, name: string, content: Buffer): Promise<boolean> {
    const part = url.startsWith('/api/states') ? 'stateFile' : 'saveFile'
    const form = createForm([{ name: part, fileName: name, content }])
    const reply = await this.#test.app.inject({ method: 'POST', url, headers: { ...this.#headers, ...form.headers }, payload: form.payload })
    if (reply.statusCode === 200) this.#acknowledged.add(sha1Of(content))
    return reply.statusCode === 200
  }

  /** Negotiates as an app with hashes does. */
  async #negotiate (): Promise<void> {
    const saves = [...this.#own].map(([file, content]) => ({ file, mtime: '2026-01-01T00:00:00Z', sha1: sha1Of(content) }))
    const reply = await this.#client.call('POST', '/api/sync/negotiate', { device_id: this.#appDevice, roms: [{ rom_id: this.#romId, saves }] })
    const { session_id: session, operations } = reply.json<{ session_id: number, operations: Operation[] }>()
    for (const { type, file, destination, source } of operations) {
      const content = this.#own.get(file)
      if (type === 'noop') continue
      if (destination !== undefined && content !== undefined && !await this.#send(destination, file, content)) continue
      if (source === undefined) continue
      this.#own.set(file, (await this.#client.call('GET', source)).rawPayload)
    }
    const count = operations.filter(({ type }) => type !== 'noop').length
    await this.#client.call('POST', `/api/sync/sessions/${session}/complete`, { operations_completed: count, operations_failed: 0 })
  }

  async #list (at: number, state: 'live' | 'deleted'): Promise<Item[]> {
    const route = ROUTES[at] ?? ROUTES[0]
    return await this.#client.get<Item[]>(state === 'live' ? `${route}?rom_id=${this.#romId}` : `${route}/deleted`)
  }

  async #takeAsOwner (step: Extract<Change, { kind: 'upload' | 'delete' | 'restore' }>): Promise<void> {
    const route = ROUTES[step.path] ?? ROUTES[0]
    if (step.kind === 'upload') {
      const content = this.#make(undefined)
      this.#chosen.add(sha1Of(content))
      await this.#send(`${route}?rom_id=${this.#romId}&emulator=snes9x${step.path === 0 ? '&slot=autosave&overwrite=true' : ''}`, NAMES[step.path] ?? '', content)
      return
    }
    const items = (await this.#list(step.path, step.kind === 'delete' ? 'live' : 'deleted')).filter((item) => item.conflict_of === null)
    const [item] = items
    if (item === undefined) return
    for (const one of items) this.#chosen.add(one.sha1)
    if (step.kind === 'delete') await this.#client.call('POST', `${route}/delete`, { [route.slice(5)]: items.map(({ id }) => id) })
    else await this.#client.call('POST', `${route}/${item.id}/restore`)
  }

  async #take (step: Step): Promise<void> {
    const name = PATHS['path' in step ? step.path : 0] ?? PATHS[0]
    if (step.kind === 'write' || step.kind === 'remove' || step.kind === 'return') {
      const files = this.#devices[step.device]?.files
      const place = `${step.device} ${name}`
      const former = this.#former.get(place) ?? []
      const content = files?.get(name)
      if (step.kind === 'remove') files?.delete(name)
      else if (step.kind === 'write') files?.set(name, this.#make(content ?? former.at(-1), place))
      else {
        const again = former[step.pick % Math.max(former.length, 1)]
        // The user wants the older content, wherever it was replaced.
        if (again !== undefined) this.#chosen.add(sha1Of(again))
        if (again !== undefined) files?.set(name, again)
        if (again !== undefined && content !== undefined) {
          this.#returns.set(place, { to: sha1Of(again), from: [sha1Of(content), ...this.#givenUpFor(place, content)] })
        }
      }
      if (content !== undefined) this.#former.set(place, [...former, content])
    } else if (step.kind === 'sync') {
      await this.#sync(step.device, step)
    } else if (step.kind === 'negotiate') {
      const file = NAMES[step.path] ?? NAMES[0]
      if (step.isWritten) this.#own.set(file, this.#make(this.#own.get(file)))
      await this.#negotiate()
    } else await this.#takeAsOwner(step)
  }

  async #readCurrent (): Promise<Map<string, string>> {
    const { rows } = await this.#test.app.pg.query<{ name: string, sha1: string }>(`select kind || ' ' || id as name, sha1 from assets
      where deleted_at is null and conflict_of is null and rom_id = $1`, [this.#romId])
    return new Map(rows.map((row) => [row.name, row.sha1]))
  }

  #isDescendant (content: string, ancestor: string): boolean {
    const parents = this.#parents.get(content) ?? []
    return content === ancestor || parents.some((parent) => this.#isDescendant(parent, ancestor))
  }

  /** Checks that new content was made from the content that it replaced, unless a person chose otherwise. */
  #checkOrder (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>, step: Step): void {
    for (const [name, sha1] of after) {
      const former = before.get(name)
      if (former === undefined || this.#chosen.has(sha1) || this.#isDescendant(sha1, former)) continue
      throw new Error(`${JSON.stringify(step)} replaced the ${name} ${former} by ${sha1}, which was not made from it`)
    }
  }

  async #checkKept (): Promise<void> {
    const { rows } = await this.#test.app.pg.query<{ sha1: string, disk_path: string }>(`select a.sha1, a.disk_path from assets a
      where a.rom_id = $1 union all select v.sha1, v.disk_path from asset_versions v join assets a on a.id = v.asset_id where a.rom_id = $1`, [this.#romId])
    const kept = new Map(rows.map((row) => [row.sha1, row.disk_path]))
    for (const sha1 of this.#acknowledged) {
      const place = kept.get(sha1)
      if (place === undefined) throw new Error(`The content ${sha1} was acknowledged and is lost`)
      await access(join(this.#test.config.data_dir, 'assets', place))
    }
  }

  #stateOf ({ files }: RetroArch): string {
    return PATHS.map((name) => `${name}: ${sha1Of(files.get(name) ?? Buffer.alloc(0))}`).join(', ')
  }

  /** Syncs all devices until they agree with each other. */
  async #converge (): Promise<void> {
    for (let round = 1; round <= ROUNDS_MAX; round++) {
      for (const at of DEVICES) await this.#play({ kind: 'sync', device: at, faults: [], choice: 'none' })
      const states = new Set(this.#devices.map((client) => this.#stateOf(client)))
      if (round > 3 && states.size === 1) return
    }
    throw new Error(`The devices do not agree after ${ROUNDS_MAX} rounds: ${this.#devices.map((client) => this.#stateOf(client)).join(' | ')}`)
  }

  /** Takes a step and checks what it changed. */
  async #play (step: Step): Promise<void> {
    await this.#take(step)
    const after = await this.#readCurrent()
    this.#checkOrder(this.#before, after, step)
    this.#before = after
    await this.#checkKept()
  }

  /** Plays the steps. @throws Error for the first that loses content or replaces a save by an older one */
  async check (steps: readonly Step[]): Promise<void> {
    for (const one of steps) await this.#play(one)
    await this.#converge()
  }
}
