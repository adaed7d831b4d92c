import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { examineStore } from '../../plugins/doctor/store.ts'
import { features } from '../../plugins/index.ts'
import { CREDENTIALS, type Fault, startS3Server } from '../core/store/s3-server.ts'
import { createClient } from '../plugins/assets/support.ts'
import { addRom } from '../plugins/roms/support.ts'
import { buildTestApp } from '../support.ts'
import { createRandom } from './random.ts'

// Two hosts store saves in one bucket whose server is slow, cuts connections and refuses requests. The model has every
// content that a client was told of.

const SECONDS = Number(process.env.SOAK_SECONDS ?? 120)
const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000)
const CLIENTS = 4
/** Saves of several parts take another way through the store. */
const SIZES = [10, 100_000, 5 * 1024 ** 2, 9 * 1024 ** 2]
const FAULTS: readonly ReturnType<Fault>[] = [
  { status: 503, code: 'SlowDown' }, { status: 500, code: 'InternalError' }, 'cut', 'cut-body', 'lose-answer', 'hang'
]

const random = createRandom(SEED)
const pick = <T>(values: readonly T[]): T => values[Math.trunc(random() * values.length)] as T
t.comment(`SOAK_SEED=${SEED} SOAK_SECONDS=${SECONDS}`)

const server = await startS3Server(t)
const env = { SVC_STORE_URL: server.url, AWS_ACCESS_KEY_ID: CREDENTIALS.id, AWS_SECRET_ACCESS_KEY: CREDENTIALS.secret }
const first = await buildTestApp(t, { env })
const second = await buildTestApp(t, { env, databaseUrl: first.databaseUrl, withoutAdmin: true })
const hosts = [first, second]

/** Lets one of `rate` requests fail; a rate of 0 lets all succeed. */
const setFaults = (rate: number) => { server.fail(() => random() < rate ? pick(FAULTS) : null) }

/** The saves of one client: the acknowledged content by slot. */
type Model = Map<string, { id: number, content: Buffer }>

const counts = { stored: 0, refused: 0, read: 0, unread: 0 }
const wrong: string[] = []

async function runClient (number: number, headers: Record<string, string>, signal: AbortSignal): Promise<Model> {
  const model: Model = new Map()
  const rom = await addRom(first, { fs_name: `Game ${number}.sfc` })
  while (!signal.aborted) {
    const client = createClient(pick(hosts), headers)
    const slot = String(Math.trunc(random() * 4))
    const known = model.get(slot)
    if (random() < 0.5 || known === undefined) {
      const content = randomBytes(pick(SIZES))
      const reply = await client.send('POST', '/api/saves', { rom_id: rom, slot, overwrite: true }, [
        { name: 'saveFile', fileName: `Game ${slot}.srm`, content }
      ])
      if (reply.statusCode < 300) {
        counts.stored++
        model.set(slot, { id: reply.json<{ id: number }>().id, content })
      } else {
        counts.refused++
        const isRight = reply.statusCode === 503 && reply.headers['retry-after'] !== undefined
        if (!isRight) wrong.push(`an upload got ${reply.statusCode}: ${reply.body}`)
      }
    } else {
      const reply = await client.call('GET', `/api/saves/${known.id}/content`).catch(() => null)
      if (reply?.statusCode === 200) {
        counts.read++
        if (!reply.rawPayload.equals(known.content)) wrong.push(`save ${known.id} has another content`)
      } else {
        counts.unread++
        if (reply !== null && reply.statusCode !== 503) wrong.push(`save ${known.id} got ${reply.statusCode}: ${reply.body}`)
      }
    }
  }
  return model
}

t.test('no acknowledged save is lost, whatever the store does', async (t) => {
  const over = new AbortController()
  const headers = await Promise.all(Array.from({ length: CLIENTS }, (_none, number) => first.createUser(`user${number}`)))
  const clients = headers.map((one, number) => runClient(number, one, over.signal))
  const endsAt = performance.now() + SECONDS * 1_000
  while (performance.now() < endsAt) {
    setFaults(pick([0, 0.1, 0.5, 1]))
    await sleep(2_000 + random() * 5_000)
  }
  over.abort()
  const models = await Promise.all(clients)
  setFaults(0)
  t.comment(JSON.stringify(counts))
  t.ok(counts.stored > 10 && counts.refused > 0, 'some uploads succeeded and some were refused')
  t.strictSame(wrong, [], 'every answer is right, or 503 with Retry-After')
  for (const [number, model] of models.entries()) {
    for (const host of hosts) {
      const client = createClient(host, headers[number] ?? {})
      for (const { id, content } of model.values()) {
        const reply = await client.call('GET', `/api/saves/${id}/content`)
        t.ok(reply.rawPayload.equals(content), `save ${id} of user ${number}`)
      }
    }
  }
  const examine = async () => await examineStore(
    { features, config: first.config, settings: {}, state: null, mailTo: null, isFull: true }, first.app.pg)
  t.match((await examine()).map(({ status }) => status), ['ok', 'ok', 'ok'], 'every row has its object')
  const [key] = [...server.objects.keys()].filter((one) => one.endsWith('.srm'))
  server.objects.delete(key ?? '')
  t.match((await examine())[1], { status: 'fail', lines: [(key ?? '').replace('data/assets/', '')] }, 'a missing object is found')
})
