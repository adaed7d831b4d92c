import { createHash } from 'node:crypto'
import fs, { rm, symlink } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { ApiError } from '../../../core/errors.ts'
import { requireFreeSpace } from '../../../core/files/free-space.ts'
import { createFsStore } from '../../../core/store/fs-store.ts'
import { stripCode } from '../../../core/loader/packages/strip-types.ts'
import { recover } from '../../../plugins/assets/clean-up/orphaned-files.ts'
import { describeWriteError, isDiskFull } from '../../../plugins/exports/files/fs-reason.ts'
import { replaceTextFile } from '../../../plugins/exports/text-file.ts'
import { createArtworkFailures, isDiskFull as isArtworkDiskFull, onDisk } from '../../../plugins/artwork/failures.ts'
import { createStaging } from '../../../plugins/artwork/staging.ts'
import { settings } from '../../e2e/server.ts'
import { PNG, createClient } from '../../plugins/assets/support.ts'
import { addRom } from '../../plugins/roms/support.ts'
import { openDb } from '../../open-db.ts'
import { runCommand } from '../../run-command.ts'
import { buildTestApp } from '../../support.ts'

/** A file system without any free space. */
const FULL = '/proc'
const NO_SPACE = { constructor: ApiError, code: 'NO_FREE_SPACE' }

t.test('a gibibyte always stays free, even for folders that do not exist yet', async (t) => {
  const folder = t.testdir({})
  await requireFreeSpace(folder, 0)
  await requireFreeSpace(join(folder, 'not', 'made', 'yet'), 0)
  await t.rejects(requireFreeSpace(folder, Number.MAX_SAFE_INTEGER), NO_SPACE)
  await t.rejects(requireFreeSpace(FULL, 0), NO_SPACE)
  await t.rejects(requireFreeSpace(join(FULL, 'not', 'made', 'yet'), 0), NO_SPACE)
})

t.test('artwork is staged only if the largest file fits', async (t) => {
  const { statfs } = fs
  t.teardown(() => {
    fs.statfs = statfs
    syncBuiltinESMExports()
  })
  let freeMiB = 1_024 + 63
  fs.statfs = (async () => ({ bavail: freeMiB, bsize: 1024 ** 2 })) as unknown as typeof statfs
  syncBuiltinESMExports()
  // The database is not needed.
  const { db } = await openDb('postgres://127.0.0.1:1/none')
  const staging = createStaging(db, t.testdir({}), 'a task')
  await t.rejects(staging.next(), NO_SPACE)
  freeMiB++
  await t.resolves(staging.next())
})

t.test('saves and pictures of accounts are refused with 507 on a full disk', async (t) => {
  const test = await buildTestApp(t)
  const rom = await addRom(test, { fs_name: 'Game.sfc' })
  const headers = await test.createUser('alice')
  const assets = join(test.config.data_dir, 'assets')
  await rm(assets, { recursive: true, force: true })
  await symlink(FULL, assets)
  const alice = createClient(test, headers)
  const part = { fileName: 'Game.png', content: PNG }
  t.equal((await alice.send('POST', '/api/saves', { rom_id: rom }, [{ name: 'saveFile', ...part }])).statusCode, 507)
  const { id } = await alice.get('/api/users/me')
  t.equal((await alice.send('PUT', `/api/users/${id}`, {}, [{ name: 'avatar', ...part }])).statusCode, 507)
})

t.test('a disk that takes no more files answers 507, although it has free bytes', async (t) => {
  const test = await buildTestApp(t)
  const rom = await addRom(test, { fs_name: 'Game.sfc' })
  const client = createClient(test, test.admin)
  const { id } = await client.get('/api/users/me')
  const { mkdir, open } = fs
  t.teardown(() => {
    Object.assign(fs, { mkdir, open })
    syncBuiltinESMExports()
  })
  const refuse = async () => { throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC', syscall: 'open' }) }
  Object.assign(fs, { mkdir: refuse, open: refuse })
  syncBuiltinESMExports()
  const part = { fileName: 'Game.png', content: PNG }
  const send = async (method: 'POST' | 'PUT', url: string, query: Record<string, number>, name: string) =>
    (await client.send(method, url, query, [{ name, ...part }])).statusCode
  t.equal(await send('POST', '/api/saves', { rom_id: rom }, 'saveFile'), 507)
  t.equal(await send('PUT', `/api/users/${id}`, {}, 'avatar'), 507)
  t.equal(await send('PUT', `/api/roms/${rom}`, {}, 'artwork'), 507)
  t.equal(await send('POST', '/api/collections', {}, 'artwork'), 507)
})

t.test('artwork and exports keep the reserve and report the remedy', async (t) => {
  const test = await buildTestApp(t)
  const err: unknown = await onDisk(createStaging(test.app.db, FULL, 'a task').next).catch((reason: unknown) => reason)
  t.ok(isArtworkDiskFull(err), 'the next pictures need not be fetched')
  const failures = createArtworkFailures(FULL)
  failures.add(1, err)
  t.match(failures.list(() => 'snes'), [{ reason: /less than 1 GiB is free on the disk\. Free space under \/proc/ }])

  const file = { path: join(FULL, 'gamelist.xml'), text: null, stats: null }
  const refusal: unknown = await replaceTextFile(file, '<gameList/>').catch((reason: unknown) => reason)
  t.ok(isDiskFull(refusal))
  t.match(describeWriteError(refusal, FULL), /Less than 1 GiB is free .* Free some space and export again/)
})

t.test('stripped code, plugins and recovered files keep the reserve', async (t) => {
  await t.rejects(stripCode(FULL), NO_SPACE)

  const folder = t.testdir({ plugins: t.fixture('symlink', FULL) })
  const { code, output } = await runCommand(t, ['plugins', 'add', 'svc-provider-none'], settings(folder))
  t.match({ code, output }, { code: 1, output: 'svc: Less than 1 GiB is free on the server; free some space there and try again\n' })

  const root = t.testdir({ assets: { lost: { 'Game.srm': 'content' } } })
  const content = { file_size_bytes: 7, sha1: createHash('sha1').update('content').digest('hex') }
  const missing = ['own/Game.srm', 'copy/Game.srm'].map((path) => ({ ...content, disk_path: path }))
  const { statfs } = fs
  t.teardown(() => {
    fs.statfs = statfs
    syncBuiltinESMExports()
  })
  fs.statfs = (async () => ({ bavail: 0, bsize: 1024 ** 2 })) as unknown as typeof statfs
  syncBuiltinESMExports()
  t.same(await recover(createFsStore(root), missing), ['own/Game.srm'], 'what needs no room comes back')
})
