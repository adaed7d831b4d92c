import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { createBackup } from '../../plugins/backup/write-backup.ts'
import { createUsedDataDir, runSvc, settings, tryFetch, waitUntilListening } from '../e2e/server.ts'
import { makeFolder } from '../folder.ts'
import { createClient } from '../plugins/assets/support.ts'
import { addRom } from '../plugins/roms/support.ts'
import { buildTestApp } from '../support.ts'
import { until } from '../until.ts'

const SAVES = 3
const test = await buildTestApp(t)

t.test('after a restore every account of the backup signs in and gets all its saves', async (t) => {
  const client = createClient(test, await test.createUser('alice'))
  const rom = await addRom(test, { fs_name: 'Game.sfc' })
  const saves = new Map<number, Buffer>()
  for (let save = 0; save < SAVES; save++) {
    const content = randomBytes(90_000)
    saves.set((await client.save({ rom_id: rom }, `${save}.srm`, content)).id, content)
  }
  const folder = makeFolder(t)
  const [archive, dataDir] = [join(folder, 'backup.tar.gz'), join(folder, 'data')]
  const passphrase = 'correct horse battery'
  await createBackup({
    config: test.config,
    databaseUrl: test.databaseUrl,
    path: archive,
    namesIncomplete: false,
    isIncremental: false,
    holds: 'everything',
    passphrase,
    signal: new AbortController().signal,
    report: () => undefined
  })
  createUsedDataDir(dataDir)
  const env = settings(dataDir, { SVC_BACKUP_PASSPHRASE: passphrase, WEB_SERVER_CONCURRENCY: '1' })
  t.match(await runSvc(t, ['restore', archive], env).ended, { code: 0, output: /is as it was on / })
  const server = runSvc(t, ['start'], env)
  const { url } = await waitUntilListening(server, dataDir)
  const headers = { authorization: `Basic ${Buffer.from('alice:a password').toString('base64')}` }
  for (const [id, content] of saves) {
    const answer = await until(() => tryFetch(`${url}/api/saves/${id}/content`, { headers }), 'the save', server)
    t.ok(Buffer.from(await answer.arrayBuffer()).equals(content))
  }
})
