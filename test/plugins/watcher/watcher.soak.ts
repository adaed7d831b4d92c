import { appendFile, rename, rm, writeFile } from 'node:fs/promises'
import t from 'tap'
import { publishFile, openMediaFolder } from '../../../plugins/exports/media/media-folder.ts'
import { readTextFile, replaceTextFile } from '../../../plugins/exports/text-file.ts'
import { scriptOf } from '../fixtures/script.ts'
import { until } from '../../until.ts'
import { startWorker } from '../scans/support.ts'
import { DELAY_MS, slugsOf, startWatcher } from './watcher-support.ts'

const {
  test, app, worker, admin, put, sql, roms, rom, start, finished, at, scans, waiting, afterChange
} = await startWatcher(t)

const beta = scriptOf('beta')

const FIRST_FILES = { 'roms/snes/A.sfc': 'a', 'roms/snes/B.sfc': 'b', 'roms/nes/A.nes': 'a', 'roms/gb/A.gb': 'a' }

t.before(async () => {
  await until(async () => worker?.watcher.isWatching() === true, 'the worker watches')
  await afterChange(() => put(FIRST_FILES))
})

t.test('changes in several platforms, also new ones, trigger one scan', async (t) => {
  const found = await afterChange(async () => {
    await put({ 'roms/nes/B.nes': 'b', 'roms/psx/Game/disc.bin': 'disc' })
    await rm(at('snes/A.sfc'))
    await rm(at('gb'), { recursive: true })
  })
  t.same(found.map(slugsOf), [['gb', 'nes', 'psx', 'snes']])
  t.match(await rom('psx', 'Game'), { missing_from_fs: false })
  t.match(await rom('snes', 'A.sfc'), { missing_from_fs: true })
  t.match(await rom('gb', 'A.gb'), { missing_from_fs: true }, 'with a platform folder its ROMs are gone')
})

t.test('exports and excluded files trigger no scan', async (t) => {
  const found = await afterChange(async () => {
    for (const text of ['first', 'second']) {
      for (const name of ['gamelist.xml', 'metadata.pegasus.txt']) {
        t.ok(await replaceTextFile(await readTextFile(at('snes'), name), text))
      }
      await publishFile(await openMediaFolder(at('snes'), 'covers'), 'B.png', { bytes: Buffer.from(text) }, true)
    }
    await put({ 'roms/psx/.DS_Store': '', 'roms/psx/New.bin.part': 'half', 'roms/psx/@eaDir/x': '' })
    await put({ 'roms/nes/C.nes': 'c' })
  })
  t.same(found.map(slugsOf), [['nes']])
})

interface Noted { version: string, is_late: boolean }

/**
 * Returns the row of the waiting scan after its next write. With the delay alone, its time would have ended twice
 * before.
 */
const nextNote = (version?: string) => until(async () => {
  const [row] = await sql<Noted>(`select xmin::text as version,
    created_at < now() - interval '${DELAY_MS * 2} milliseconds' as is_late
    from tasks where task_key = 'filesystem_watcher' and status = 'scheduled'`)
  return row?.version !== version && row
}, 'the change is noted')

t.test('a file that is being copied is scanned once, when it is complete', async (t) => {
  let size = 0
  const found = await afterChange(async () => {
    for (let row: Noted | undefined; row?.is_late !== true;) {
      await appendFile(at('snes/Long.sfc'), 'part')
      size += 'part'.length
      row = await nextNote(row?.version)
    }
    t.same(await roms('snes').then((all) => all.filter(({ fs_name: name }) => name === 'Long.sfc')), [])
  })
  t.same(found.map(slugsOf), [['snes']])
  const [file] = await sql("select file_size_bytes::int as size from rom_files where file_name = 'Long.sfc'")
  t.same(file, { size })
})

t.test('the next scan waits for the end of a running one', async (t) => {
  const { promise, resolve } = Promise.withResolvers<null>()
  beta.identify = () => promise
  await writeFile(at('snes/One.sfc'), 'one')
  await until(() => beta.calls.length > 0, 'the scan runs')
  const found = await afterChange(async () => {
    await put({ 'roms/snes/Two.sfc': 'two' })
    await until(async () => (await sql(`select 1 from tasks where status = 'scheduled'
      and created_at < now() - interval '${DELAY_MS * 2} milliseconds'`)).length === 1, 'its time is over')
    const listed = (await app.inject({ url: '/api/tasks/status', headers: admin })).json<{ status: string }[]>()
    t.same(listed.filter(({ status }) => status === 'scheduled'), [], 'what only waits is not listed')
    const [row] = await waiting()
    t.match((await app.inject({ url: `/api/tasks/${row?.id}`, headers: admin })).json(),
      { status: 'scheduled', task_name: 'Rescan on filesystem change', task_key: 'filesystem_watcher' })
    beta.identify = () => null
    resolve(null)
  })
  t.same(found.map(slugsOf), [['snes']])
  t.match(await rom('snes', 'Two.sfc'), { missing_from_fs: false })
})

t.test("changes that a person's scan has read meanwhile are not scanned again", async (t) => {
  await put({ 'roms/nes/D.nes': 'd' })
  await until(async () => (await waiting()).length === 1, 'the scan waits')
  t.match(await finished(await start({ type: 'quick', apis: [] })), { status: 'finished' })
  const before = await scans()
  await until(async () => (await waiting('canceled')).length === 1, 'the scan that waited is dropped')
  t.same(await scans(), before)
})

t.test('one worker watches; after its end another resumes its waiting scan', async (t) => {
  const next = await startWorker(t, test, ['beta'])
  t.equal(next.watcher.isWatching(), false)
  await put({ 'roms/snes/C.sfc': 'c' })
  await until(async () => (await waiting()).length === 1, 'the scan waits')
  const found = await afterChange(async () => { await worker?.close() })
  t.same(found.map(slugsOf), [['snes']])
  await until(() => next.watcher.isWatching(), 'the next one watches')
  t.same((await afterChange(() => rename(at('nes'), at('famicom')))).map(slugsOf), [['famicom', 'nes']])
})
