import type { ProviderId } from '@svc/plugin-sdk'
import t from 'tap'
import { type RomToPlan, includesStoredRom, knowsPlatform, planLookups } from '../../../plugins/matching/lookup-plan.ts'
import { SCAN_TYPES, type ScanType } from '../../../plugins/matching/scan-types.ts'

type Providers = Parameters<typeof planLookups>[1]
type Definition = NonNullable<ReturnType<Providers['get']>>['definition']

const DEFINITIONS: Definition[] = [
  { key: 'tagged', id: 'integer', tag: 'tagged', getById: async () => undefined },
  { key: 'hashes', id: 'string', tag: 'hashes', usesHashes: true },
  { key: 'snes', id: 'integer', platforms: { snes: 1 }, getById: async () => undefined }
]
const PROVIDERS: Providers = new Map(DEFINITIONS.map((definition) => [definition.key, { definition }]))
const ALL = [...PROVIDERS.keys()]

const ROM: RomToPlan = {
  history: 'known', platform_slug: 'snes', fs_name: 'Harbor.sfc', stored: new Map(), lockedMatches: new Set(), lockedRecords: new Set()
}
const plan = (type: ScanType, rom: Partial<RomToPlan> = {}, selected: readonly string[] = ALL) =>
  planLookups({ type, selected }, PROVIDERS, { ...ROM, ...rom })
const asked = (...args: Parameters<typeof plan>) => plan(...args).map(({ provider }) => provider)

t.test('a provider without a list of platforms knows all of them', async (t) => {
  t.ok(knowsPlatform({}, 'gb'))
  t.ok(knowsPlatform({ platforms: { gb: 1 } }, 'gb'))
  t.notOk(knowsPlatform({ platforms: {} }, 'gb'))
})

t.test('a new ROM is looked up at each selected provider of its platform, in every scan', async (t) => {
  for (const type of SCAN_TYPES) {
    t.same(asked(type, { history: 'new' }), ALL, type)
    t.same(asked(type, { history: 'new', platform_slug: 'gb' }), ['tagged', 'hashes'], type)
    t.same(asked(type, { history: 'new' }, ['snes', 'gone', 'tagged']), ['snes', 'tagged'], 'in the order of the selection')
  }
})

t.test('the type of the scan decides which providers are asked about a known ROM', async (t) => {
  const stored = new Map([['tagged', 7]])
  t.same(asked('complete', { stored }), ALL)
  t.same(asked('update', { stored }), ['tagged'])
  t.same(asked('unmatched', { stored }), ['hashes', 'snes'])
  t.same(asked('hashes', { stored }), ['hashes'])
  for (const type of ['quick', 'new_platforms'] as const) t.same(asked(type, { stored }), [], type)
})

t.test('a ROM that this scan looked up before its worker stopped is not looked up again', async (t) => {
  for (const type of SCAN_TYPES) t.same(plan(type, { history: 'resumed' }), [], type)
})

t.test('a tag of the right type in the file name is the known id', async (t) => {
  const idsIn = (name: string) => plan('complete', { fs_name: name }).map(({ knownId }) => knownId)
  t.same(idsIn('Harbor (tagged-12) (hashes-ab).sfc'), [{ id: 12, from: 'tag' }, { id: 'ab', from: 'tag' }, null])
  t.same(idsIn('Harbor (tagged-no).sfc'), [null, null, null])
  t.ok(plan('complete', { fs_name: 'Harbor (tagged-12).sfc' }).every(({ searches }) => searches))
})

t.test('an update asks by the stored id, and searches only where that is impossible', async (t) => {
  const stored = new Map<string, ProviderId | null>([['tagged', 7], ['hashes', 'ab'], ['snes', null]])
  t.same(plan('update', { stored, fs_name: 'Harbor (tagged-12).sfc' }), [
    { provider: 'tagged', knownId: { id: 7, from: 'stored' }, searches: false },
    { provider: 'hashes', knownId: { id: 'ab', from: 'stored' }, searches: true },
    { provider: 'snes', knownId: null, searches: true }
  ])
  t.match(plan('update', { stored, history: 'new', fs_name: 'Harbor (tagged-12).sfc' }), [{ knownId: { id: 12, from: 'tag' } }, {}, {}])
})

t.test('a game that a person chose is asked for alone, and a written record not at all', async (t) => {
  const stored = new Map([['tagged', 7]])
  const held = new Set(['tagged', 'snes'])
  t.same(plan('complete', { stored, lockedMatches: held, fs_name: 'Harbor (tagged-12).sfc' }), [
    { provider: 'tagged', knownId: { id: 7, from: 'person' }, searches: false }, { provider: 'hashes', knownId: null, searches: true }
  ], 'a person who chose no game keeps the provider from being asked')
  t.same(asked('complete', { stored, lockedMatches: held, lockedRecords: new Set(['tagged', 'hashes']) }), [])
  t.same(plan('quick', { stored, lockedMatches: held }), [], 'and only where the scan asks at all')
})

t.test('the type of the scan decides which known ROMs it includes', async (t) => {
  const includes = (type: ScanType, providers: string[], identified = true, selected = ['tagged']) =>
    includesStoredRom({ type, selected }, { is_identified: identified, providers })
  for (const type of ['complete', 'hashes'] as const) t.ok(includes(type, []), type)
  for (const type of ['quick', 'new_platforms'] as const) t.notOk(includes(type, ['tagged']), type)
  t.ok(includes('update', ['tagged', 'snes']))
  t.notOk(includes('update', ['snes']), 'no selected provider has a match')
  t.notOk(includes('update', ['tagged'], false), 'a ROM that nobody identified')
  t.ok(includes('unmatched', ['snes']))
  t.notOk(includes('unmatched', ['tagged']))
  t.ok(includes('unmatched', ['tagged'], true, ['tagged', 'snes']), 'one of the selected providers has no match')
})
