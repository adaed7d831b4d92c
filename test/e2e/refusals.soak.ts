import t from 'tap'
import { createUsedDataDir, runSvc, settings } from './server.ts'

t.test('a database that cannot be reached ends the start with one message', async (t) => {
  const dataDir = createUsedDataDir(t.testdir({}))
  const { code, output } = await runSvc(t, ['start'], settings(dataDir, {
    SVC_DATABASE_URL: 'postgres://svc:secret@127.0.0.1:1/svc', SVC_LOG_LEVEL: 'error'
  })).ended
  t.equal(code, 1)
  t.match(output, /^svc: The database cannot be reached: .*Check SVC_DATABASE_URL.*\n$/)
  t.notMatch(output, 'secret')
})

t.test('plugins are listed without a server or a database', async (t) => {
  const { code, output } = await runSvc(t, ['plugins', '--json'], settings(createUsedDataDir(t.testdir({})))).ended
  t.equal(code, 0)
  const records = output.trim().split('\n').map((line) => JSON.parse(line) as { key: string, status: string, reason: string })
  t.match(records.find((record) => record.key === 'igdb'), { status: 'disabled', reason: /IGDB_CLIENT_ID/ })
})
