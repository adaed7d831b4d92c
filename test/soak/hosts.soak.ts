import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Socket, io } from 'socket.io-client'
import t from 'tap'
import { startRoundRobin } from '../e2e/round-robin.ts'
import { type Command, createUsedDataDir, runSvc, settings } from '../e2e/server.ts'
import { freePort } from '../free-port.ts'
import { withConnection } from '../plugins/migrations/support.ts'
import { createTestDatabase } from '../support.ts'
import { until } from '../until.ts'
import { ADMIN, AUTHORIZATION, WAIT_MS } from './server.ts'
import { startVisitors } from './visitors.ts'

// Many sockets on two web hosts behind round robin without stickiness, and people who write, while one host is killed.

const SOCKETS = Number(process.env.SOAK_SOCKETS ?? 1_000)
const BATCH = 50
const RETURN_MS = 10_000
const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000)
const ROMS = [1, 2, 3, 4]
const SVC_DATABASE_URL = await createTestDatabase(t)
const dataDir = mkdtempSync(join(tmpdir(), 'svc-host-'))
t.teardown(() => { rmSync(dataDir, { recursive: true, force: true }) })
createUsedDataDir(dataDir)
t.comment(`SOAK_SEED=${SEED} SOAK_SOCKETS=${SOCKETS}`)

interface Host { command: Command, url: string }

async function startHost (address: string): Promise<Host> {
  const command = runSvc(t, ['web'], settings(dataDir, {
    ...ADMIN,
    SVC_HOST: address,
    SVC_INTERNAL_ADDRESS: `${address}:${await freePort()}`,
    SVC_DATABASE_URL,
    SVC_AUTH_SECRET_KEY: 'one key of all hosts'
  }))
  const [, url = ''] = await until(() => /"url":"([^"]+)"/.exec(command.output()), `the host at ${address}`, { ...command, ms: WAIT_MS })
  return { command, url }
}

const addRoms = () => withConnection(SVC_DATABASE_URL, async (client) => {
  await client.query("insert into platforms (id, slug, fs_slug, name) values (1, 'snes', 'snes', 'SNES')")
  await client.query(`insert into roms (id, platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext)
    select id, 1, 'Game ' || id || '.sfc', 'roms/snes', 'Game ' || id, 'Game ' || id from unnest($1::int[]) as given (id)`, [ROMS])
})

const hostOf = ({ io: { engine } }: Socket) => String(Reflect.get(engine, 'id')).split('-')[0]

t.test(`${SOCKETS} sockets, half of them polling, are back within ${RETURN_MS / 1_000} s after a host was killed`, async (t) => {
  const [first, second] = [await startHost('127.0.0.2'), await startHost('127.0.0.3')]
  const proxy = await startRoundRobin(t, [first.url, second.url])
  const login = await fetch(`${first.url}/api/login`, { method: 'POST', headers: { authorization: AUTHORIZATION } })
  const cookie = login.headers.getSetCookie().map((line) => line.split(';')[0]).join('; ')
  const sockets: Socket[] = []
  t.teardown(() => { for (const socket of sockets) socket.disconnect() })
  while (sockets.length < SOCKETS) {
    for (let count = 0; count < BATCH; count++) {
      sockets.push(io(proxy.url, {
        path: '/ws/socket.io', transports: [count % 2 === 0 ? 'polling' : 'websocket'], forceNew: true, extraHeaders: { cookie }
      }))
    }
    await until(() => sockets.every(({ connected }) => connected), 'a batch of sockets', { ...first.command, ms: WAIT_MS })
  }
  const counts = (host: string | undefined) => sockets.filter((socket) => hostOf(socket) === host).length
  const [one] = sockets.map(hostOf)
  t.ok(counts(one) > SOCKETS / 4 && counts(one) < SOCKETS * 3 / 4, `${counts(one)} sockets are on one host`)

  await addRoms()
  const visitors = startVisitors({ url: proxy.url, seed: SEED, visitors: ROMS.length, roms: ROMS })
  const writeMore = async () => {
    const before = visitors.written()
    await until(() => visitors.written() > before + ROMS.length, 'saves', { ...first.command, ms: WAIT_MS })
  }
  await writeMore()
  let lost = 0
  for (const socket of sockets) socket.on('disconnect', () => { lost++ })
  second.command.child.kill('SIGKILL')
  await second.command.ended
  const endedAt = performance.now()
  await until(() => lost > SOCKETS / 5, 'the loss', { ...first.command, ms: WAIT_MS })
  const isBack = () => sockets.every(({ connected }) => connected) && new Set(sockets.map(hostOf)).size === 1
  await until(isBack, 'all sockets on the first host', {
    ms: WAIT_MS, output: () => `${sockets.filter(({ connected }) => !connected).length} are missing\n${first.command.output().slice(-5_000)}`
  })
  const tookMs = Math.round(performance.now() - endedAt)
  t.ok(tookMs < RETURN_MS, `${lost} sockets were lost, all are back after ${tookMs} ms`)
  t.comment(`${lost} sockets were lost, all are back after ${tookMs} ms`)
  await writeMore()
  await visitors.finish()
  t.same(visitors.ledger.findings, [])
  t.comment(`${visitors.written()} saves were acknowledged; answers ${JSON.stringify(visitors.ledger.answers)}`)
})
