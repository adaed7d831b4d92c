import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc, { type Arbitrary } from 'fast-check'
import t from 'tap'
import { listChildren } from '../e2e/server.ts'
import { until } from '../until.ts'
import { type Answer, closeConnections, send, sendRaw } from './fuzz/transport.ts'
import { describe, findFault, findRawFault } from './fuzz/findings.ts'
import { Ids } from './fuzz/known.ts'
import { CROWD, type Person, admit, isAdmitted } from './fuzz/people.ts'
import { rawBytes } from './fuzz/raw.ts'
import { type Document, type Draft, type FuzzRequest, type Place, drafts, encode, listPlaces } from './fuzz/requests.ts'
import { type Message, Sockets, messages } from './fuzz/sockets.ts'
import { Known } from './fuzz/values.ts'
import { type Witness, addWitness } from './fuzz/witness.ts'
import { WAIT_MS, startServer } from './server.ts'

const REQUESTS = Number(process.env.SOAK_REQUESTS ?? 20_000)
const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000)
/** Steps of one seed. After them all credentials and the witness's rows are checked. */
const STEPS_OF_ROUND = 100
/** One in this number of ids in requests of others belongs to the witness. */
const WITNESS_EVERY = 25
const FAULTS_MAX = 40
const LOG_LINES_MAX = 40

type Step =
  | { kind: 'one', who: number, draft: Draft }
  | { kind: 'pair', who: readonly [number, number], drafts: readonly [Draft, Draft], focus: number }
  | { kind: 'raw', bytes: Buffer }
  | { kind: 'message', message: Message }

const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const [dataDir, libraryDir] = [join(folder, 'data'), join(folder, 'library')]
for (const platform of ['snes', 'gba']) {
  await mkdir(join(libraryDir, 'roms', platform), { recursive: true })
  for (let game = 0; game < 20; game++) await writeFile(join(libraryDir, 'roms', platform, `Game ${game} (Europe).sfc`), `${platform} ${game}`)
}
await mkdir(dataDir)
// Turns off the only provider that would call a server on the internet.
await writeFile(join(dataDir, 'config.yml'), 'plugins:\n  libretro:\n    enabled: false\n')
t.comment(`SOAK_SEED=${SEED} SOAK_REQUESTS=${REQUESTS}`)

/**
 * Generates steps. The second of two concurrent requests goes to the same part of the API and the same ids as the
 * first.
 */
function steps (document: Document): Arbitrary<Step> {
  const places = listPlaces(document)
  const made = new Map(places.map((place) => [place, drafts(place, document)]))
  const draftOf = (place: Place) => made.get(place) ?? fc.constant({} as never)
  // Requests that create objects must be more frequent than those that delete them.
  const any = fc.constantFrom(...places.flatMap((place) => place.method === 'POST' ? [place, place] : [place]))
  const partOf = ({ path }: Place) => path.split('/')[2]
  const who = fc.nat(CROWD.length - 1)
  const besides = (place: Place) => fc.constantFrom(...places.filter((one) => partOf(one) === partOf(place)))
  const pairs = any.chain((place) => fc.tuple(draftOf(place), besides(place).chain(draftOf)))
  return fc.oneof(
    { weight: 12, arbitrary: fc.record({ kind: fc.constant('one' as const), who, draft: any.chain(draftOf) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('pair' as const), who: fc.tuple(who, who), drafts: pairs, focus: fc.nat(11) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('raw' as const), bytes: rawBytes }) },
    { weight: 1, arbitrary: messages(document['x-socket-events'].map(({ name }) => name)).map((message) => ({ kind: 'message' as const, message })) })
}

t.test(`${REQUESTS} generated requests do no harm`, async (t) => {
  const server = await startServer(t, dataDir, libraryDir, { SVC_TRUSTED_PROXIES: '127.0.0.1', SVC_AUTH_SECRET_KEY: 'known to this run alone' })
  const task = await server.scan()
  await until(async () => (await server.look(task))?.ended_at instanceof Date, 'a library', { ...server.command, ms: WAIT_MS })
  const rom = (await server.query<{ id: number }>('select id from roms order by id limit 1'))?.[0]?.id ?? 0
  const witness = await addWitness(server, rom)
  const listWorkers = async () =>
    [await listChildren(server.command.pid, 'web'), await listChildren(server.command.pid, 'worker')]
  const workers = await listWorkers()
  t.same(workers.map(({ length }) => length), [1, 1])
  const document = await (await fetch(`${server.url}/openapi.json`)).json() as Document
  const step = steps(document)

  const people: Person[] = []
  for (const [index, kind] of CROWD.entries()) people.push(await admit(server, kind, index))
  let generation = CROWD.length
  const ids = new Ids()
  const faults = new Map<string, number>()
  const statuses = new Map<number, number>()
  let [sent, round, slowestMs] = [0, 0, 0]

  function note (fault: string, what: string): void {
    const operation = /^\w+/.exec(what)?.[0] ?? ''
    const key = `${operation}: ${fault.replace(/\d{4,}/g, 'N').slice(0, 120)}`
    const times = (faults.get(key) ?? 0) + 1
    faults.set(key, times)
    if (times === 1) t.comment(`${fault} (SOAK_SEED=${SEED}, round ${round}) ${what}`)
  }
  const sockets = new Sockets(server.url, (who, text) => {
    const leak = /^(administrator|narrow)/.test(who) ? null : witness.findLeak(text, '')
    if (leak !== null) note(leak, `socket of ${who} heard ${text}`)
  })
  t.teardown(() => {
    sockets.close()
    closeConnections()
  })

  const secretsBut = (person: Person) =>
    [...witness.secrets, ...people.filter((one) => one !== person).flatMap((one) => one.secrets)]

  function prepare (who: number, draft: Draft, focus?: number): { person: Person, request: FuzzRequest } {
    const person = people[who] ?? people[0]
    if (person === undefined) throw new Error('There is nobody')
    const look = (known: Known) => {
      const owned = person.isAdmin || known.pick % WITNESS_EVERY !== 0 ? undefined : witness.ids.get(known.kind)
      return owned?.[known.pick % owned.length] ?? ids.look(focus === undefined ? known : new Known(known.kind, focus))
    }
    const request = encode(draft, look)
    const address = { 'x-forwarded-for': `198.51.100.${who + 1}` }
    const headers = { ...address, ...person.headers, ...request.headers }
    return { person, request: spare({ ...request, headers }, witness) }
  }

  async function ask ({ person, request }: ReturnType<typeof prepare>): Promise<void> {
    const answer: Answer = await send(server.url, request)
    sent++
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    slowestMs = Math.max(slowestMs, answer.ms)
    const fault = findFault(answer, { request, isAdmin: person.isAdmin }, secretsBut(person), [dataDir, libraryDir]) ??
      (person.isAdmin ? null : witness.findLeak(answer.text, `${request.url} ${request.body?.toString() ?? ''}`))
    if (fault !== null) note(fault, `${describe(request)} by ${person.name} was answered ${answer.status} ${answer.text.slice(0, 300)}`)
    if (answer.status < 300) ids.add(request.template, answer.text)
  }

  async function take (one: Step): Promise<void> {
    if (one.kind === 'one') {
      await ask(prepare(one.who, one.draft))
    } else if (one.kind === 'pair') {
      await Promise.all(one.drafts.map((draft, index) => ask(prepare(one.who[index] ?? 0, draft, one.focus))))
    } else if (one.kind === 'raw') {
      sent++
      const fault = findRawFault(await sendRaw(server.url, one.bytes))
      if (fault !== null) note(fault, `bytes ${JSON.stringify(one.bytes.toString('latin1').slice(0, 1_000))}`)
    } else {
      sent++
      const person = people[one.message.who % people.length]
      if (person !== undefined) await sockets.send(person.name, person.headers, one.message, (known) => ids.look(known))
    }
  }

  /** Renews credentials that requests revoked, and checks the rows of the witness. */
  async function restore (): Promise<void> {
    for (const [index, person] of people.entries()) {
      if (await isAdmitted(server, person)) continue
      sockets.forget(person.name)
      people[index] = await admit(server, CROWD[index] ?? 'guest', generation++)
    }
    for (const loss of await witness.listLosses()) note(loss, 'lost')
  }

  for (; sent < REQUESTS && faults.size < FAULTS_MAX; round++) {
    for (const one of fc.sample(step, { seed: SEED + round, numRuns: STEPS_OF_ROUND })) await take(one)
    await restore()
  }
  t.comment(`${sent} requests; answers: ${JSON.stringify(Object.fromEntries([...statuses].sort(([a], [b]) => a - b)))}; ` +
    `the slowest took ${Math.round(slowestMs)} ms; ${generation} people`)
  t.same([...faults].map(([fault, times]) => `${fault} (${times} times)`), [])
  t.same(await listWorkers(), workers, 'no worker ended')
  for (const line of listAlarms(server.command.output()).slice(0, LOG_LINES_MAX)) t.comment(line.slice(0, 1_000))
  t.ok(sent >= REQUESTS)
  await server.stop()
})

/** Lists the lines of a log that are errors. */
const listAlarms = (log: string) => log.split('\n').filter((line) => /"level":[56]0/.test(line))

/** Spares the accounts of the test, because administrators may change and delete any account. */
function spare (request: FuzzRequest, { ids }: Witness): FuzzRequest {
  const named = /^\/api\/(?:users|permissions\/users|client-tokens)\/([^/?]+)/.exec(request.url)?.[1]
  const isSpared = named !== undefined && (Number(named) === 1 || Number(named) >= Number(ids.get('user')?.[0]))
  return isSpared && request.method !== 'GET' ? { ...request, method: 'GET', body: null } : request
}
