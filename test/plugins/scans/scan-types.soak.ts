import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { resetScripts } from '../fixtures/script.ts'
import t from 'tap'
import { alpha, startScanTypes } from './scan-types-support.ts'

const { scan, rom, roms, prepare, sql, libraryDir, put } = await startScanTypes(t)

t.test('a scan of named ROMs rereads only their files and names, with every type', async (t) => {
  for (const type of ['quick', 'update', 'unmatched', 'complete', 'hashes', 'new_platforms']) {
    const folder = `named-${type}`
    const { known, blank } = await prepare(folder)
    alpha.getById = () => ({ id: 7, name: 'Renamed' })
    const status = await scan({ type, apis: ['alpha'], roms_ids: [known.id] })
    const after = await rom(folder, known.fs_name)
    t.match(after, { tags: [], revision: '1', missing_from_fs: false }, type)
    t.not(after.crc_hash, 'stale', type)
    t.equal((await rom(folder, blank.fs_name)).crc_hash, 'stale', type)
    t.equal((await roms(folder)).length, 2, type)
    t.match(status.meta.scan_stats, { total_roms: 1, scanned_roms: 1, updated_roms: 1, total_platforms: 1 }, type)
    const expected = { update: ['getById'], complete: ['identify'] }[type] ?? []
    t.same(alpha.calls.map((call) => call.method), expected, type)
  }
})

t.test('a quick scan begins with the platform that changed last, and with its new games', async (t) => {
  const files = (folder: string, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_none, index) => [`roms/${folder}/${100 + index}.bin`, `${folder} ${index}`]))
  await put({ ...files('a2600', 60), ...files('zxs', 60) })
  await scan({ platform_fs_slugs: ['a2600', 'zxs'], apis: [] })
  await put({ 'roms/a2600/Zero.bin': 'zero', 'roms/zxs/Zeta.bin': 'zeta' })
  await utimes(join(libraryDir, 'roms/a2600'), 1, 1)
  resetScripts()
  const listed: string[] = []
  alpha.identify = (game) => {
    listed.push(game.fs_name)
    return null
  }
  await scan({ platform_fs_slugs: ['a2600', 'zxs'], apis: ['alpha'] })
  t.same(listed, ['Zeta.bin', 'Zero.bin'])
  const stored = await sql<{ fs_name: string }>("select fs_name from roms where fs_name in ('Zero.bin', 'Zeta.bin') order by id")
  t.same(stored.map(({ fs_name: name }) => name), listed, 'they were stored in this order')
})
