import { deepEqual, equal, ok } from 'node:assert/strict'
import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { ADMIN_ACCESS } from '../../../core/access/grants.ts'
import { createVirtualCollections } from '../../../plugins/collections/virtual.ts'
import { readMembers, searchMembers } from '../../../plugins/collections/virtual-rows.ts'
import type { AnyCaller } from '../../../plugins/platforms/visibility.ts'
import { isRomVisible } from '../../../plugins/roms/visibility.ts'
import { isVirtualType, virtualId } from '../../../plugins/roms/virtual-collections.ts'
import { addRom } from '../roms/support.ts'
import { romId, startCollections, type Item } from './collections-support.ts'

const { start } = await startCollections(t)

t.test('criteria are read in all stored shapes, and invalid ones are ignored', async (t) => {
  const { test, alice } = await start(t)
  const fields = { genres: ['Puzzle'], age_ratings: ['E'] }
  const a = await addRom(test, { fs_name: 'Apple (USA) (Beta).sfc', fields })
  const b = await addRom(test, { fs_name: 'Berry (Japan).gb', platform: 'gb', matches: { igdb: 1, ra: 2 } })
  const { rows: [gb] } = await test.app.pg.query<{ id: number }>("select id from platforms where slug = 'gb'")
  const nested = await alice.smart('Nested', { regions: ['Japan'] })
  const cases: [criteria: object, ids: number[]][] = [
    [{}, [a, b]],
    [{ platform_ids: [gb?.id] }, [b]], [{ platform_ids: gb?.id }, [b]], [{ platform_id: String(gb?.id) }, [b]],
    [{ selected_genre: 'Puzzle' }, [a]], [{ selected_tag: 'Beta' }, [a]], [{ selected_age_rating: 'E' }, [a]],
    [{ selected_region: 'Japan', selected_language: null }, [b]],
    [{ genres: ['Puzzle', 'Other'], genres_logic: 'all' }, []], [{ genres: ['Puzzle'], genres_logic: 'none' }, [b]],
    [{ matched: true }, [b]], [{ matched: 'false' }, [a]], [{ matched: null }, [a, b]], [{ has_ra: true }, [b]],
    [{ metadata_providers: ['igdb'] }, [b]], [{ search_term: 'berry' }, [b]],
    [{ virtual_collection_id: virtualId({ type: 'genre', name: 'Puzzle' }) }, [a]],
    [{ order_by: 'name', order_dir: 'desc' }, [b, a]],
    [{ smart_collection_id: nested.id }, [a, b]], [{ last_played: true }, [a, b]], [{ updated_after: '2999-01-01T00:00:00Z' }, [a, b]],
    [{ group_by_meta_id: 'x', limit: 1, offset: 5, genres: { a: 1 }, matched: 'maybe', search_term: ['a'], platform_id: {} }, [a, b]]
  ]
  for (const [index, [criteria, ids]] of cases.entries()) {
    const made = await alice.smart(`Case ${index}`, criteria)
    t.same(made.rom_ids, ids, JSON.stringify(criteria))
    t.same(await alice.roms(`smart_collection_id=${made.id}`), ids.toSorted((x, y) => x - y), `listed: ${JSON.stringify(criteria)}`)
    for (const id of [a, b]) {
      const { user_collections: holding } = await alice.get<{ user_collections: { id: number }[] }>(`/api/roms/${id}`)
      t.equal(holding.some((one) => one.id === made.id), ids.includes(id), `${id} tells: ${JSON.stringify(criteria)}`)
    }
  }
})

type Change = readonly [sql: string, values: unknown[]]
const some = (...values: string[]) => fc.subarray(values)
const WRITE = `insert into roms (id, platform_id, fs_name, fs_name_no_ext, fs_path, fs_name_no_tags, genres, game_modes, companies, min_age,
    path_cover_small, path_cover_large)
  values ($1::int, $2, $1::text, '', '', '', $3, $4, $5, $6, case when $7 then 'roms/' || $1::text || '/small.webp' else '' end, null)
  on conflict (id) do update set platform_id = excluded.platform_id, genres = excluded.genres, game_modes = excluded.game_modes,
    companies = excluded.companies, min_age = excluded.min_age, path_cover_small = excluded.path_cover_small`
const write: fc.Arbitrary<Change> = fc.tuple(romId, fc.constantFrom(1, 2), some('Quiz', 'puzzle', 'Puzzle'), some('Quiz', 'Co-op'),
  some('N'), fc.constantFrom(null, 6, 18), fc.boolean()).map((values) => [WRITE, values])
const alike = (text: string): fc.Arbitrary<Change> => fc.constant([text, []])
const virtualChange: fc.Arbitrary<Change> = fc.oneof(
  { weight: 8, arbitrary: write },
  romId.map((id): Change => ['delete from roms where id = $1', [id]]),
  ...['user_id', 'group_id'].map((by) => romId.map((id): Change =>
    [`insert into hidden_entities (entity, entity_id, ${by}) values ('roms', $1, 1) on conflict do nothing`, [id]])),
  alike("insert into hidden_entities (entity, entity_id, user_id) values ('platforms', 2, 1) on conflict do nothing"),
  alike('delete from hidden_entities'), alike("update roms set path_cover_small = ''"), alike('update roms set summary = summary')
)
const VIEWER = { id: 1, access: { ...ADMIN_ACCESS, is_admin: false, group_id: 1 } }
const VIEWERS: AnyCaller[] = [null, VIEWER, { id: 1, access: { ...VIEWER.access, age_limit: 12 } }]

t.test('virtual collections that follow changes equal those of the whole library', async (t) => {
  const { app } = (await start(t)).test
  await app.pg.query("insert into platforms (id, slug, fs_slug, name) values (1, 'snes', 'snes', 'SNES'), (2, 'gb', 'gb', 'GB') on conflict do nothing")
  const collections = createVirtualCollections(app)
  interface Row { type: string, name: string, ids: number[], covered: number[] | null }
  const readAll = async (caller: AnyCaller) => (await sql<Row>`
    select v.type, v.name, array_agg(r.id order by r.id) as ids, array_agg(r.id) filter (where r.path_cover_small <> '') as covered
    from roms r cross join lateral (select 'genre' as type, unnest(r.genres) as name union all
      select 'mode', unnest(r.game_modes) union all select 'company', unnest(r.companies)) v
    where ${isRomVisible(caller)} group by v.type, v.name having count(*) >= 3
    order by lower(v.name), v.name, case v.type when 'mode' then 'game_modes' else v.type end`.execute(app.db)).rows
  const read = async (caller: AnyCaller, withIds: boolean) =>
    JSON.parse((await collections.list({ db: app.db, caller }, 'all', { withIds })).bytes.toString()) as (Item & { type: string })[]

  async function check (caller: AnyCaller): Promise<void> {
    const [rows, found] = [await readAll(caller), await read(caller, true)]
    const facts = ({ type, name, rom_count: count, rom_ids: ids }: typeof found[number]) =>
      ({ type, name, count, ids: ids.toSorted((x, y) => x - y) })
    const wanted = rows.map(({ type, name, ids }) => ({ type, name, count: ids.length, ids }))
    deepEqual(found.map(facts), wanted, JSON.stringify(caller))
    deepEqual((await read(caller, false)).map(facts), found.map((one) => ({ ...facts(one), ids: [] })))
    for (const load of [readMembers, searchMembers]) {
      const named = rows.flatMap(({ type, name }) => isVirtualType(type) ? [{ type, name }] : [])
      const loaded = await load(app.longReads, caller, named)
      const members = new Map(loaded.map(({ type, name, ids }) => [`${type}:${name}`, ids.split(',').map(Number)]))
      const idsOf = ({ type, name }: Row) => members.get(`${type}:${name}`)?.toSorted((x, y) => x - y)
      deepEqual(rows.map(idsOf), rows.map(({ ids }) => ids), load.name)
    }
    for (const [index, { path_covers_small: covers }] of found.entries()) {
      const covered = rows[index]?.covered ?? []
      const shown = covers.map((path) => Number(/roms\/(\d+)\/small/.exec(path)?.[1]))
      ok(shown.every((id) => covered.includes(id)), 'covers of members that the caller sees')
      equal(shown.length > 0, covered.length > 0, 'a cover if a member has one')
    }
  }

  const first = fc.array(write, { minLength: 9, maxLength: 9 })
  const changes = fc.array(virtualChange, { minLength: 1, maxLength: 8 })
  await fc.assert(fc.asyncProperty(first, changes, async (writes, others) => {
    await app.pg.query('delete from hidden_entities; delete from roms; delete from former_roms')
    for (const [text, values] of writes) await app.pg.query(text, values)
    for (const [text, values] of others) {
      await app.pg.query('delete from former_roms')
      await app.pg.query(text, values)
      for (const caller of VIEWERS) await check(caller)
    }
  }), { numRuns: 15 })
})

t.test('criteria of any shape are answered', async (t) => {
  const { test, alice } = await start(t)
  await addRom(test, { fs_name: 'A.sfc' })
  const keys = ['genres', 'platform_ids', 'platform_id', 'matched', 'search_term', 'statuses', 'order_by', 'order_dir',
    'collection_id', 'virtual_collection_id', 'selected_genre', 'genres_logic', 'metadata_providers', 'player_counts']
  const { id } = await alice.smart('Any', {})
  const anyCriteria = fc.dictionary(fc.constantFrom(...keys), fc.jsonValue({ maxDepth: 2 }))
  await fc.assert(fc.asyncProperty(anyCriteria, async (criteria) => {
    const reply = await alice.send('PUT', `/smart/${id}`, { filter_criteria: JSON.stringify(criteria) })
    return reply.statusCode === 200
  }), { numRuns: 60 })
})
