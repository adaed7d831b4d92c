import t from 'tap'
import { alpha, startScanTypes } from './scan-types-support.ts'

const { scan, rom, roms, prepare } = await startScanTypes(t)

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
