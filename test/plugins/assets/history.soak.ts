import fc from 'fast-check'
import t from 'tap'
import { sha1Of, listStored, type AssetItem, type Query } from './support.ts'
import { startHistory } from './history-support.ts'

const { alice, newRom, readAll, test } = await startHistory(t)

t.test('concurrent uploads lose no content', async (t) => {
  const rom = await newRom()
  const contents = Array.from({ length: 24 }, (_, i) => `content ${i}`)
  const replies = await Promise.all(contents.map((content, i) => {
    const slot = [{}, { slot: 'a' }, { slot: 'b', autocleanup: true, autocleanup_limit: 1 }][i % 3]
    return alice.send('POST', '/api/saves', { rom_id: rom, ...slot }, [{ name: 'saveFile', fileName: 'Game.srm', content }])
  }))
  t.ok(replies.every(({ statusCode }) => statusCode === 200))
  const all = await readAll(rom)
  for (const content of contents) t.ok(all.has(sha1Of(content)), content)
})

/** Number of sequences; `npm run soak` runs more. */
const RUNS = Number(process.env.SOAK_ROUNDS ?? 4)

const KEEP = ['both', 'original', 'copy'] as const

const nameArbitrary = fc.constantFrom('Game.srm', 'Game.sav')

const slotArbitrary = fc.constantFrom(null, 'a', 'b')

const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('upload' as const), name: nameArbitrary, slot: slotArbitrary, overwrite: fc.boolean(), cleans: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('replace' as const, 'delete' as const, 'keep' as const), at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('restore' as const, 'restore version' as const, 'copy' as const, 'resolve' as const), at: fc.nat(20) }) }
)

t.test('every accepted content stays available after any sequence of operations', async (t) => {
  await fc.assert(fc.asyncProperty(fc.array(operation, { minLength: 3, maxLength: 14 }), async (operations) => {
    const rom = await newRom()
    const accepted = new Set<string>()
    let uploads = 0
    const send = async (method: 'POST' | 'PUT', path: string, query: Query, fileName: string) => {
      const content = `${rom} ${++uploads}`
      const reply = await alice.send(method, path, query, [{ name: 'saveFile', fileName, content }])
      if (reply.statusCode === 200) accepted.add(sha1Of(content))
      else if (reply.statusCode >= 500) throw new Error(reply.body)
    }
    const pick = async (at: number, which = '') => {
      const url = which === '' ? `/api/saves?rom_id=${rom}` : '/api/saves/deleted'
      const rows = (await alice.get<AssetItem[]>(url)).filter(({ rom_id: of }) => of === rom)
      return rows[at % Math.max(rows.length, 1)] ?? null
    }
    for (const one of operations) {
      if (one.kind === 'upload') {
        await send('POST', '/api/saves', {
          rom_id: rom,
          overwrite: one.overwrite,
          autocleanup: one.cleans,
          autocleanup_limit: 1,
          slot: one.slot ?? undefined
        }, one.name)
        continue
      }
      const save = await pick(one.at, one.kind === 'restore' ? 'deleted' : '')
      if (save === null) continue
      if (one.kind === 'replace') await send('PUT', `/api/saves/${save.id}`, {}, 'x')
      else if (one.kind === 'keep') await send('POST', `/api/saves/${save.id}/versions`, {}, 'x')
      else if (one.kind === 'copy') await send('POST', '/api/saves', { rom_id: rom, conflict_of: save.id }, 'Game.srm')
      else if (one.kind === 'resolve') await alice.call('POST', `/api/saves/${save.id}/resolve`, { keep: KEEP[one.at % KEEP.length] })
      else if (one.kind === 'delete') await alice.call('POST', '/api/saves/delete', { saves: [save.id] })
      else if (one.kind === 'restore') await alice.call('POST', `/api/saves/${save.id}/restore`)
      else {
        const [version] = await alice.versions(save.id)
        if (version !== undefined) await alice.call('POST', `/api/saves/${save.id}/versions/${version.id}/restore`)
      }
    }
    const all = await readAll(rom)
    for (const sha1 of accepted) if (!all.has(sha1)) throw new Error(`Lost: ${sha1} of ${accepted.size}`)
  }), { numRuns: RUNS })
  const { rows } = await test.app.pg.query<{ disk_path: string }>('select disk_path from assets union select disk_path from asset_versions')
  t.same(new Set(await listStored(test)), new Set(rows.map((row) => row.disk_path)), 'every row has its file and every file its row')
})
