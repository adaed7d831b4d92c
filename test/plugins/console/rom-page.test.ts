import { rom as deRom } from '../../../plugins/console/web/i18n/de/rom.ts'
import { normalizeTag, repairLanguage } from '../../../plugins/console/web/i18n/browser-language.ts'
import { listManuals } from '../../../plugins/console/web/pages/rom/manual/manual-list.ts'
import { pageAfter, widthAfter } from '../../../plugins/console/web/pages/rom/manual/view-keys.ts'
import t from 'tap'
import { listAchievements } from '../../../plugins/console/web/pages/rom/achievement-list.ts'
import { type RomFile, groupFiles, listHashes, listPatchable } from '../../../plugins/console/web/pages/rom/file-groups.ts'
import { mondayOf, toWeeks } from '../../../plugins/console/web/pages/rom/play-weeks.ts'
import { listSources, readProviderLock } from '../../../plugins/console/web/pages/rom/source-list.ts'
import {
  groupByDay,
  listAssets,
  splitConflicts
} from '../../../plugins/console/web/pages/rom/saves/timeline.ts'
import {
  type EditValues,
  isValidDate,
  listLocked,
  readValues,
  toRequest,
  toUndo
} from '../../../plugins/console/web/pages/rom-edit/edit-values.ts'
import { mergeEdits } from '../../../plugins/console/web/pages/rom-edit/merge-edits.ts'
import { listCandidates } from '../../../plugins/console/web/pages/rom-match/candidates.ts'
import { describeSkipped, readSkipped } from '../../../plugins/console/web/pages/rom-match/skipped.ts'

const now = new Date(2026, 10, 23, 12)
const session = (start: Date, minutes: number) => ({ start: start.toISOString(), duration_seconds: minutes * 60 })

t.test('play sessions add up by week, with weeks of no play between them', async (t) => {
  t.same(mondayOf(new Date(2026, 10, 22, 23)), new Date(2026, 10, 16), 'Sunday belongs to the week before')
  const weeks = toWeeks(
    [
      session(new Date(2026, 10, 23, 9), 30),
      session(new Date(2026, 10, 9), 10),
      session(new Date(2026, 10, 15, 23), 5)
    ],
    now
  )
  t.equal(weeks.length, 8)
  t.same(
    weeks.slice(-3).map(({ minutes }) => minutes),
    [15, 0, 30]
  )
  t.equal(toWeeks([session(new Date(2019, 0, 1), 1)], now).length, 53, 'a plot shows one year')
  t.same(
    toWeeks([], now).map(({ minutes }) => minutes),
    Array.from({ length: 8 }, () => 0)
  )
})

t.test('earned achievements come first, and a poor record has none', async (t) => {
  const achievements = [
    {
      ra_id: 1,
      title: 'Late',
      badge_id: '10',
      display_order: 2,
      points: 5,
      badge_path: '/b/10',
      badge_path_lock: '/b/10l'
    },
    { ra_id: 2, title: 'Early', badge_id: '11', display_order: 1, badge_path: '/b/11', badge_path_lock: null }
  ]
  const progression = { results: [{ rom_ra_id: 7, earned_achievements: [{ id: '10', date: '2026-01-02 03:04:05' }] }] }
  const list = listAchievements({ merged_ra_metadata: { achievements }, ra_progression: progression, ra_id: 7 })
  t.match(list, [
    { title: 'Late', earned: '2026-01-02 03:04:05', picture: '/b/10' },
    { title: 'Early', earned: null, picture: '/b/11', points: 0, description: '' }
  ])
  t.match(listAchievements({ merged_ra_metadata: { achievements }, ra_progression: null, ra_id: null }), [
    { title: 'Early' },
    { title: 'Late', earned: null }
  ])
  for (const metadata of [{}, { achievements: 'none' }, { achievements: [null, 3] }]) {
    t.same(listAchievements({ merged_ra_metadata: metadata, ra_progression: {}, ra_id: 1 }), [])
  }
})

t.test('files are grouped by kind in the order of their numbers', async (t) => {
  const file = (path: string, category: RomFile['category'] = null): RomFile => ({
    id: 1,
    rom_id: 1,
    file_name: path,
    file_path: '',
    full_path: path,
    file_size_bytes: 1,
    is_top_level: true,
    created_at: '',
    updated_at: '',
    last_modified: '',
    crc_hash: 'aa',
    md5_hash: null,
    sha1_hash: '',
    ra_hash: null,
    chd_sha1_hash: null,
    archive_members: null,
    category,
    track_meta: null
  })
  const files = [file('disc 10'), file('disc 9', 'game'), file('dlc/a', 'dlc'), file('patch/x.ips', 'patch')]
  t.same(
    groupFiles(files, '').map(({ category, files: list }) => [category, list.map(({ full_path: path }) => path)]),
    [
      ['game', ['disc 9', 'disc 10']],
      ['dlc', ['dlc/a']],
      ['patch', ['patch/x.ips']]
    ]
  )
  t.same(
    groupFiles(files, ' DLC ').map(({ category }) => category),
    ['dlc']
  )
  t.same(groupFiles(files, 'nowhere'), [])
  const patchable = listPatchable([file('01 Overture.wav', 'soundtrack'), file('a guide.pdf', 'manual'), ...files])
  t.same(patchable.map(({ full_path: path }) => path), ['disc 9', 'disc 10', 'dlc/a'], 'a patch is for a file of the game')
  t.same(listHashes(file('x')), [['CRC32', 'aa']])
})

t.test('locks appear at their values, and those of providers by their names', async (t) => {
  const rows = listSources({
    fields: { name: ['igdb'], genres: [] },
    media: { cover: ['sgdb'] },
    locked: ['name', 'url_cover', 'igdb_id']
  })
  t.same(rows, [
    { field: 'name', providers: ['igdb'], lock: 'name' },
    { field: 'genres', providers: [], lock: null },
    { field: 'cover', providers: ['sgdb'], lock: 'url_cover' },
    { field: 'igdb_id', providers: [], lock: 'igdb_id' }
  ])
  t.same(readProviderLock('raw_igdb_metadata'), { provider: 'igdb', isRecord: true })
  t.same(readProviderLock('igdb_id'), { provider: 'igdb', isRecord: false })
  for (const lock of ['name', 'manual_metadata', 'youtube_video_id']) t.equal(readProviderLock(lock), null, lock)
})

type SaveView = Parameters<typeof listAssets>[0]['saves'][number]
const save = (id: number, fields: Partial<SaveView> = {}): SaveView => ({
  id,
  rom_id: 1,
  user_id: 1,
  file_name: `${id}.srm`,
  file_name_no_tags: '',
  file_name_no_ext: '',
  file_extension: 'srm',
  file_path: '',
  full_path: '',
  file_size_bytes: 1,
  download_path: `/api/saves/${id}/content`,
  missing_from_fs: false,
  created_at: '',
  updated_at: `2026-11-${10 + id}T12:00:00+00:00`,
  sha1: String(id),
  client_mtime: null,
  conflict_of: null,
  emulator: null,
  slot: null,
  content_hash: null,
  origin_device_id: null,
  content_device_id: null,
  is_public: false,
  screenshot: null,
  device_syncs: [],
  ...fields
})

t.test('the timeline lists saves by day, the newest first, and conflicts apart', async (t) => {
  const assets = listAssets({
    saves: [save(1), save(3), save(2, { conflict_of: 1 }), save(4, { conflict_of: 99 })],
    states: [],
    deletedSaves: [save(5)],
    deletedStates: []
  })
  t.same(
    assets.map(({ id }) => id),
    [5, 4, 3, 2, 1]
  )
  const { conflicts, others } = splitConflicts(assets)
  t.match(conflicts, [{ original: { id: 1 }, copy: { id: 2 } }])
  t.same(
    others.map(({ id }) => id),
    [5, 4, 3, 1],
    'a copy without its original is a normal save'
  )
  t.same(
    groupByDay(others).map(({ assets: list }) => list.length),
    [1, 1, 1, 1]
  )
  const many = listAssets({
    saves: Array.from({ length: 200 }, (_, index) => save(index, { updated_at: '2026-11-01T00:00:00+00:00' })),
    states: [],
    deletedSaves: [],
    deletedStates: []
  })
  t.equal(groupByDay(many)[0]?.assets.length, 200)
})

const metadatum = {
  rom_id: 1,
  genres: ['Puzzle', 'Racing'],
  franchises: [],
  collections: [],
  companies: [],
  game_modes: [],
  age_ratings: [],
  player_count: '1',
  first_release_date: Date.UTC(1994, 2, 19),
  average_rating: null
}
const rom = {
  name: 'Harbor',
  name_sort_key: 'harbor',
  summary: null,
  url_manual: '',
  fs_name: 'h.gb',
  metadatum,
  youtube_video_id: null,
  manual_metadata: { companies: ['Lantern'] }
}
const base = readValues(rom)
const withValues = (values: Partial<EditValues>): EditValues => ({ ...base, ...values })

t.test('an edit sends only what changed, and facts together with former ones', async (t) => {
  t.match(base, { name: 'Harbor', summary: '', genres: 'Puzzle, Racing', first_release_date: '1994-03-19' })
  t.same(toRequest(rom, base, base, new Set()), { body: {}, unlock: [] })
  t.same(toRequest(rom, base, withValues({ name: 'Other' }), new Set()), { body: { name: 'Other' }, unlock: [] })
  const { body } = toRequest(
    rom,
    base,
    withValues({ genres: ' Chess ,, Cards', first_release_date: '2001-02-03' }),
    new Set()
  )
  t.same(JSON.parse(body.raw_manual_metadata ?? ''), {
    companies: ['Lantern'],
    genres: ['Chess', 'Cards'],
    first_release_date: Date.UTC(2001, 1, 3)
  })
  t.same(toRequest(rom, base, base, new Set(['name', 'companies'])), {
    body: { raw_manual_metadata: '{}' },
    unlock: ['name']
  })
  t.same(
    toRequest(rom, base, withValues({ name: 'Other' }), new Set(['name'])),
    { body: {}, unlock: ['name'] },
    'an unlocked field is not set'
  )
})

t.test('the undo of an edit unlocks what had no lock, and sets what had one', async (t) => {
  const edit = toRequest(
    rom,
    base,
    withValues({ name: 'Other', summary: 'Words', fs_name: 'i.gb', genres: 'Chess' }),
    new Set()
  )
  t.same(toUndo(rom, edit, new Set(['summary'])), {
    body: { summary: '', fs_name: 'h.gb', raw_manual_metadata: '{"companies":["Lantern"]}' },
    unlock: ['name']
  })
  t.same(toUndo(rom, { body: {}, unlock: ['name'] }, new Set(['name'])), { body: { name: 'Harbor' }, unlock: [] })
})

t.test('locked fields are those with a lock, and facts that a person set', async (t) => {
  t.same([...listLocked(['name', 'igdb_id'], { companies: ['Lantern'], genres: [] })], ['name', 'companies'])
  for (const [text, isValid] of [
    ['', true],
    ['1994-03-19', true],
    ['1994-13-40', false],
    ['1994-02-30', false],
    ['soon', false]
  ] as const) { t.equal(isValidDate(text), isValid, text) }
})

t.test('a form takes newer values of untouched fields and reports the others', async (t) => {
  const mine = withValues({ name: 'Mine', summary: 'Same', fs_name: 'mine.gb' })
  const merged = mergeEdits(base, mine, withValues({ name: 'Theirs', summary: 'Same', genres: 'Chess' }))
  t.match(merged.values, { name: 'Mine', summary: 'Same', genres: 'Chess', fs_name: 'mine.gb' })
  t.same(merged.conflicts, [{ field: 'name', mine: 'Mine', theirs: 'Theirs' }])
  t.equal(merged.hasTaken, true)
  t.match(mergeEdits(base, mine, base), { conflicts: [], hasTaken: false })
})

t.test('candidates name their providers and come with the most alike first', async (t) => {
  const game = (name: string, score: number, fields: object) => ({
    platform_id: 4,
    name,
    slug: '',
    summary: '',
    year: null,
    score,
    is_identified: true,
    is_unidentified: false,
    igdb_id: null,
    igdb_url_cover: '',
    ...fields
  })
  const list = listCandidates([
    game('B', 0.4, { igdb_id: 5 }),
    game('A', 1, { vault_id: 'x', vault_url_cover: 'https://a.example/1.png', sgdb_id: 9, sgdb_url_cover: '' })
  ] as unknown as Parameters<typeof listCandidates>[0])
  t.match(list, [
    {
      name: 'A',
      cover: 'https://a.example/1.png',
      ids: [
        { provider: 'vault', id: 'x' },
        { provider: 'sgdb', id: '9' }
      ]
    },
    { name: 'B', cover: '', ids: [{ provider: 'igdb', id: '5' }] }
  ])
})

t.test('the reason of a provider without an answer is in the language of the page', (t) => {
  const header = JSON.stringify([
    { provider: 'igdb', code: 'unknown_platform', reason: "it does not know the platform 'x'" },
    { provider: 'moby', code: 'unknown_platform', reason: "it does not know the platform 'x'" },
    { provider: 'ss', code: 'not_called', reason: 'it failed 8 times in a row' },
    null
  ])
  const skipped = readSkipped(header)
  t.same(skipped.map(({ providers }) => providers), [['igdb', 'moby'], ['ss']])
  t.same(skipped.map((one) => describeSkipped(one, deRom.match)),
    [deRom.match.skipReasons.unknown_platform, 'it failed 8 times in a row'])
  t.same(readSkipped(null), [])
  t.end()
})

t.test('the language of the browser becomes one that formats accept', async (t) => {
  for (const [given, tag] of [['en-US@posix', 'en-US'], ['de_DE.UTF-8', 'de-DE'], ['pt-br', 'pt-BR'], ['C', 'en'], ['', 'en'], ['fr', 'fr']] as const) {
    t.equal(normalizeTag(given), tag, given)
  }
  const browser = { language: 'en-US@posix' }
  repairLanguage(browser)
  t.doesNotThrow(() => new Intl.NumberFormat(browser.language))
})

t.test('keys of the manual viewer stay within the pages and sizes', async (t) => {
  t.equal(pageAfter('next', 3, 3), 3)
  t.equal(pageAfter('previous', 1, 3), 1)
  t.equal(pageAfter('last', 1, 3), 3)
  t.equal(pageAfter('larger', 2, 3), null)
  t.equal(widthAfter('larger', 3), 3)
  t.equal(widthAfter('smaller', 0.5), 0.5)
  t.ok(widthAfter('larger', 1) > 1 && widthAfter('smaller', 1) < 1)
})

t.test('only manuals that are PDF files open within the page', async (t) => {
  const files = [{ id: 3, category: 'manual', file_name: 'Map & key.pdf' }, { id: 4, category: 'game', file_name: 'a.pdf' }, { id: 5, category: 'manual', file_name: 'cover.png' }]
  const rom = { has_manual: true, path_manual: 'mark/roms/1/1/manual/1.PDF', files } as Parameters<typeof listManuals>[0]
  t.same(listManuals(rom), [
    { name: '', address: 'assets/svc/resources/mark/roms/1/1/manual/1.PDF', isPdf: true },
    { name: 'Map & key.pdf', address: 'api/roms/3/files/content/Map%20%26%20key.pdf', isPdf: true },
    { name: 'cover.png', address: 'api/roms/5/files/content/cover.png', isPdf: false }
  ])
})
