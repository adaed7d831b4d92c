import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { readLockFile } from '../../../core/postgres/cluster.ts'
import { type Database, openDatabase } from '../../../core/supervisor/database.ts'
import { loadConfig } from '../../load-config.ts'
import { isAlive } from '../../e2e/server.ts'
import { makeFolder } from '../../folder.ts'
import { until } from '../../until.ts'

const ENDS: Record<string, (database: Database) => Promise<void>> = {
  'is stopped': (database) => database.stop(),
  'ends at once': async (database) => { database.kill() }
}

t.test('a database that is being restarted', {
  skip: process.platform === 'win32' && 'Windows has no signals'
}, async (t) => {
  const { config } = loadConfig({ SVC_DATA_DIR: join(makeFolder(t), 'data') })
  const findPid = async () => Number((await readLockFile(join(config.data_dir, 'db')))[0])
  for (const [name, end] of Object.entries(ENDS)) {
    await t.test(`is gone when the server ${name} meanwhile`, async (t) => {
      const lost = Promise.withResolvers<void>()
      const database = await openDatabase(config, pino({ level: 'silent' }), {
        onLost: () => { lost.resolve() },
        onRestored: () => {},
        onRestartImpossible: (reason) => { t.fail(reason) }
      })
      t.teardown(() => database.stop())
      const first = await findPid()
      process.kill(first, 'SIGKILL')
      await lost.promise
      const second = await until(async () => {
        const pid = await findPid()
        return pid > 0 && pid !== first && pid
      }, 'the next one to start')
      await end(database)
      t.ok(await until(() => !isAlive(second), 'its end', { ms: name === 'is stopped' ? 0 : undefined }))
    })
  }
})

t.test('an aborted first start fails and leaves no database process', {
  skip: process.platform === 'win32' && 'Windows has no signals'
}, async (t) => {
  const { config } = loadConfig({ SVC_DATA_DIR: join(makeFolder(t), 'data') })
  const stopping = new AbortController()
  const opening = openDatabase(config, pino({ level: 'silent' }), {
    onLost: () => {}, onRestored: () => {}, onRestartImpossible: (reason) => { t.fail(reason) }
  }, stopping.signal)
  const failed = t.rejects(opening)
  const pid = await until(async () => Number((await readLockFile(join(config.data_dir, 'db')))[0] ?? 0) || null, 'its process')
  stopping.abort()
  await failed
  t.equal(isAlive(pid), false)
})
