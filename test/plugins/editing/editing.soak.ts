import fc from 'fast-check'
import t from 'tap'
import { applyEdit } from '../../../plugins/editing/apply-edit.ts'
import { type ProviderMatch, createMatchUpdates } from '../../../plugins/matching/matches.ts'
import { toMergeBase } from '../../../plugins/matching/merge-base.ts'
import { type Priorities, mergeMatches } from '../../../plugins/matching/merge-matches.ts'
import { listLockedMatches } from '../../../plugins/matching/field-locks.ts'
import { LOCKABLE_COLUMNS } from '../../../plugins/roms/rom-columns.ts'
import type { LookupRom } from '../../../plugins/matching/stored-rows.ts'
import { SCAN_TYPES } from '../../../plugins/matching/scan-types.ts'
import { vault } from '../fixtures/vault.ts'
import { startEditing } from './editing-support.ts'

const { scan, addRom, get, edit } = await startEditing(t)

t.test('a scan keeps the chosen game of a provider, or the choice of none', async (t) => {
  const { id, folder } = await addRom()
  vault.getById = (wanted) => ({ id: wanted, name: `Game ${wanted}`, slug: `game-${wanted}` })
  await edit(id, { vault_id: '7' })
  vault.identify = () => ({ id: 9, name: 'Wrong', slug: 'wrong', score: 1 })
  await scan({ platform_fs_slugs: [folder], type: 'complete' })
  t.match(await get(id), { vault_id: 7, name: 'Game 7' })
  await edit(id, { vault_id: '' })
  await scan({ platform_fs_slugs: [folder], type: 'complete' })
  await scan({ platform_fs_slugs: [folder], type: 'unmatched' })
  t.match(await get(id), { vault_id: null })
  await edit(id, {}, '?unlock=vault_id')
  await scan({ platform_fs_slugs: [folder], type: 'unmatched' })
  t.match(await get(id), { vault_id: 9 })
})

t.test('after any edits, scans and unlocks, scans keep the values that a person set', (t) => {
  const KEYS = ['a', 'b'] as const
  const priorities: Priorities = {
    metadata: KEYS, cover: KEYS, screenshot: KEYS, manual: KEYS, media: ['cover', 'manual'], claims: new Map([['b', ['name', 'media']]]), predecessorCounts: new Map()
  }
  const isIdOf = (key: string) => KEYS.some((one) => one === key)
  const text = fc.constantFrom('', 'x', 'y', 'z')
  const match = fc.record({ id: fc.integer({ min: 1, max: 3 }), name: text, summary: text, genres: fc.subarray(['g', 'h']) }, { requiredKeys: ['id'] })
    .map((one): ProviderMatch => ({ ...one, media: [{ kind: 'cover', url: `https://x/${one.id}` }] }))
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('edit' as const),
      texts: fc.record({ name: text, summary: text, name_sort_key: text, url_cover: fc.constantFrom('https://x/1', 'https://x/9') }, { requiredKeys: [] }),
      id: fc.option(fc.integer({ min: 1, max: 3 })),
      key: fc.constantFrom(...KEYS),
      unlock: fc.subarray([...LOCKABLE_COLUMNS, 'a_id', 'b_id'])
    }),
    fc.record({
      kind: fc.constant('scan' as const), type: fc.constantFrom(...SCAN_TYPES), says: fc.dictionary(fc.constantFrom(...KEYS), fc.option(match))
    })
  )
  const first: LookupRom = {
    id: 1, library_id: 1, fs_name: 'f.gb', fs_name_no_ext: 'f', fs_name_no_tags: 'f', fs_extension: 'gb', fs_path: 'roms/gb', is_folder: false,
    name: 'f', name_sort_key: 'f', summary: null, regions: [], languages: [], tags: [], revision: null, crc_hash: '', md5_hash: '',
    sha1_hash: '', ra_hash: null, url_cover: null, path_cover_large: null, path_cover_small: null, url_screenshots: [],
    path_screenshots: [], url_manual: null, path_manual: null, media: {}, badges: [],
    own_fields: [], manual_metadata: null, edits: 0
  }
  const pictureOf = (url: string | null | undefined) => url === null || url === undefined ? null : 'there'
  fc.assert(fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
    let row = first
    let stored = new Map<string, ProviderMatch>()
    for (const one of steps) {
      if (one.kind === 'edit') {
        const before = stored.get(one.key)
        const isSame = (before !== undefined && 'id' in before ? before.id : null) === one.id
        if (!isSame && one.id !== null) stored.set(one.key, { id: one.id, name: `chosen ${one.id}` })
        else if (!isSame) stored.delete(one.key)
        const edited = { matches: stored, ids: isSame ? [] : [one.key], records: [] }
        const { merged, ...rest } = applyEdit(row, edited, one, priorities)
        row = { ...row, ...merged, ...rest, path_cover_large: pictureOf(merged.url_cover) }
        const isSet = (name: keyof typeof one.texts) => one.texts[name] !== undefined && one.texts[name] !== ''
        for (const name of ['name', 'summary'] as const) {
          if (isSet(name) && !one.unlock.includes(name) && row[name] !== one.texts[name]) throw new Error(`the edit of ${name} is lost`)
        }
        continue
      }
      const isFresh = one.type === 'complete'
      const held = listLockedMatches(row.own_fields)
      const findings = createMatchUpdates(one.type, stored, isIdOf, held)
      for (const [key, said] of Object.entries(one.says)) findings.recordResult(key, said === null ? { kind: 'miss' } : { kind: 'match', match: said })
      const { matches: all } = findings.finish(KEYS)
      const merged = mergeMatches(all, toMergeBase(row, isFresh), priorities)
      for (const name of LOCKABLE_COLUMNS) {
        if (row.own_fields.includes(name) && merged[name] !== row[name]) throw new Error(`${name} was overwritten`)
      }
      for (const key of held) {
        const [before, after] = [stored.get(key), all.get(key)].map((found) => found !== undefined && 'id' in found ? found.id : null)
        if (before !== after) throw new Error(`the game of ${key} was replaced`)
      }
      stored = new Map(all)
      row = { ...row, ...merged, path_cover_large: pictureOf(merged.url_cover) }
    }
  }), { numRuns: 300 })
  t.end()
})
