import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { examineDatabase } from '../../../plugins/doctor/database.ts'
import type { Finding } from '../../../plugins/doctor/finding.ts'
import { examineHosts } from '../../../plugins/doctor/hosts.ts'
import { createUsedDataDir, runSvc, settings } from '../../e2e/server.ts'
import { makeFolder } from '../../folder.ts'
import { type TestApp, buildTestApp } from '../../support.ts'
import { buildWorker } from '../tasks/workers-support.ts'
import { READABLE, patientOf } from './doctor-support.ts'

t.test('the command prints lines or JSON, changes nothing, and exits with 1 on errors', async (t) => {
  const folder = makeFolder(t, { library: READABLE })
  const dataDir = join(folder, 'data')
  const env = settings(dataDir, { SVC_LIBRARY_DIR: join(folder, 'library') })
  const well = await runSvc(t, ['doctor', '--json'], env).ended
  t.equal(well.code, 0, well.output)
  const findings = well.output.trim().split('\n').map((line) => JSON.parse(line) as Finding)
  t.ok(findings.every(({ status, remedy }) => (status === 'ok') === (remedy === null)))
  t.notOk(existsSync(dataDir))
  createUsedDataDir(dataDir)
  const refused = await runSvc(t, ['doctor'], { ...env, SVC_LIBRARY_DIR: '/usr/share' }).ended
  t.match(refused.output, /^fail {2}settings .*SVC_LIBRARY_DIR: '\/usr\/share' is a folder of the system/m, 'as the start refuses it')
  const wrong = await runSvc(t, ['doctor'], { ...env, SVC_PORT: 'many' }).ended
  t.equal(wrong.code, 1)
  t.match(wrong.output, /^fail +settings +SVC_PORT: "many" is not a whole number.*\n +→ .*\n\n1 failed/s)
})

t.test('hosts are listed with releases, clocks, addresses and duties', async (t) => {
  const test = await buildTestApp(t)
  t.equal(await test.app.workers.claim('watching'), true)
  t.match(await examineHosts(test, test.app.pg), [{ status: 'ok', message: /^One host runs: .* \(\d.*: web; has the duties watching\)$/ }])
  const other = await buildWorker(test, 2)
  t.teardown(() => other.close())
  await other.ready()
  const [, ...problems] = await examineHosts(test, test.app.pg)
  t.match(problems, [{ status: 'warn', message: /cannot pass requests of sockets to/, remedy: /SVC_INTERNAL_ADDRESS/ }, { status: 'ok', message: /in common/ }])
  await test.app.pg.query("update workers set release = '99.0.0', host_name = 'later', address = 'later:1' where id = $1", [other.workers.id])
  const { rows: [row] } = await test.app.pg.query<{ clock_ahead_ms: number }>('select clock_ahead_ms from workers limit 1')
  t.ok(Math.abs(row?.clock_ahead_ms ?? Infinity) < 2_000, `${row?.clock_ahead_ms} ms`)
  t.match((await examineHosts(test, test.app.pg)).filter(({ status }) => status === 'warn').map(({ message }) => message),
    [/run 2 releases: .*later 99\.0\.0/, /cannot pass/])
})

t.test('connections are counted for the processes that run', async (t) => {
  const test = await buildTestApp(t)
  const database = { ...test.config.database, url: test.databaseUrl, pool_size: 300 }
  const patient = patientOf({ config: { ...test.config, database } })
  const examine = async () =>
    (await examineDatabase(test.app.pg, patient)).findings.filter(({ status }) => status !== 'ok')
  t.same(await examine(), [], 'a lone web host has one process')
  const other = await buildWorker(test, 2)
  t.teardown(() => other.close())
  await other.ready()
  t.match(await examine(), [{ status: 'warn', message: /accepts 400 connections, but the 2 hosts may open 638$/ }])
})

t.test('hosts with another store, key or settings are reported', async (t) => {
  const test = await buildTestApp(t)
  const examineBeside = async (config: Partial<TestApp['config']>) => {
    const other = await buildWorker({ ...test, config: { ...test.config, ...config } }, 2)
    await other.ready()
    try {
      await test.app.pg.query("update workers set host_name = case id when $1 then 'web2' else 'web1' end", [other.workers.id])
      await test.app.pg.query('update workers set address = host_name')
      return (await examineHosts(test, test.app.pg)).slice(1)
    } finally {
      await other.close()
    }
  }
  const { scan } = test.config
  t.match(await examineBeside({ scan: { ...scan, hash_threads: 7 } }), [{ status: 'ok', message: /in common$/ }], 'threads are of a machine')
  t.match(await examineBeside({ data_dir: t.testdir(), scan: { ...scan, workers: scan.workers + 1 } }), [
    { status: 'fail', message: /^web2 cannot see what this machine stores in \//, remedy: /SVC_STORE_URL/ },
    { status: 'warn', message: /different settings: scan \(web1 \| web2\)$/, remedy: /config\.yml/ }
  ])
  t.match(await examineBeside({ auth: { ...test.config.auth, secret_key: 'another key for this test only' } }),
    [{ status: 'fail', message: /have 2 secret keys: web1 \| web2$/, remedy: /SVC_AUTH_SECRET_KEY/ }])
  t.notOk(existsSync(join(test.config.data_dir, 'assets')), 'neither the test object nor its folder stays')
})
