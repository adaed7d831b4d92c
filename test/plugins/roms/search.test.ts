import t from 'tap'
import { type TestApp, shareTestApp } from '../../support.ts'
import { get, idOf, type Headers, type Page } from './list-cache-support.ts'
import { addRom } from './support.ts'

const fresh = shareTestApp(t)

t.test('the stored names of ROMs follow every change of them', async (t) => {
  const test = await fresh(t)
  const { pg } = test.app
  const stored = async () => (await pg.query<{ searched: string }>('select searched from rom_names order by rom_id')).rows.map(({ searched }) => searched)
  const [a, b] = [await addRom(test, { fs_name: 'A.sfc', fields: { name: null } }), await addRom(test, { fs_name: 'B.sfc' })]
  t.same(await stored(), [' a.sfc', 'b b.sfc'])
  await pg.query("update roms set name = case id when $1 then 'First' end, summary = 'x'", [a])
  t.same(await stored(), ['first a.sfc', ' b.sfc'])
  await pg.query('delete from rom_files')
  await pg.query("update roms set id = id + 100, fs_name = 'C.sfc' where id = $1", [a])
  t.same(await stored(), [' b.sfc', 'first c.sfc'])
  await pg.query('delete from roms where id = $1', [b])
  t.same(await stored(), ['first c.sfc'])
  await pg.query('delete from platforms')
  t.same(await stored(), [])
})

t.test('the stored values of ROMs follow every change of them', async (t) => {
  const test = await fresh(t)
  const { pg } = test.app
  const values = "array['genres:Quiz', 'genres:A:b', 'player_count:1', 'player_count:2', 'tags:Beta', 'regions:USA']"
  const stored = async () => (await pg.query<{ values: string[] }>(`select array(select x from unnest(v.hashes) h join unnest(${values}) x
    on hashtextextended(x, 0) = h order by x) as values from rom_values v order by rom_id`)).rows.map((row) => row.values)
  const a = await addRom(test, { fs_name: 'A (USA).sfc', fields: { genres: ['Quiz', 'A:b'], regions: ['USA'] } })
  const b = await addRom(test, { fs_name: 'B.sfc' })
  t.same(await stored(), [['genres:A:b', 'genres:Quiz', 'player_count:1', 'regions:USA'], ['player_count:1']])
  await pg.query("update roms set genres = case id when $1 then '{Quiz}'::text[] else '{A:b}' end, player_count = '2'", [a])
  t.same(await stored(), [['genres:Quiz', 'player_count:2', 'regions:USA'], ['genres:A:b', 'player_count:2']])
  await pg.query('delete from rom_files')
  await pg.query("update roms set id = id + 100, tags = '{Beta}', regions = '{}' where id = $1", [a])
  t.same(await stored(), [['genres:A:b', 'player_count:2'], ['genres:Quiz', 'player_count:2', 'tags:Beta']])
  await pg.query('delete from roms where id = $1', [b])
  await pg.query('delete from platforms')
  t.same(await stored(), [])
})

t.test('a search ignores case and the form of composed characters in every language', async (t) => {
  const test = await fresh(t)
  const decomposed = 'Pokémon ゼルダ.sfc'.normalize('NFD')
  const rom = await addRom(test, { fs_name: decomposed, fields: { name: 'ИГРА' } })
  const other = await addRom(test, { fs_name: 'Other.sfc', fields: { name: 'Pokemon' } })
  const find = async (words: string, more = '') =>
    (await get<Page>(test, test.admin, `roms?search_term=${encodeURIComponent(words)}${more}`)).items.map(({ id }) => id)
  const bare = '&with_total=false&with_char_index=false&with_rom_id_index=false&with_filter_values=false'
  for (const words of ['POKÉMON', 'pokémon', 'é', 'ポケ|ゼルダ', 'игра ДА|игра ゼ']) {
    t.same([await find(words), await find(words, bare)], [[rom], [rom]], words)
  }
  t.same(await find('pokemon'), [other])
})

/** So many ROMs that a list of those with a name or a value is picked from the list of all. */
const MANY = 2_400

/** Stores games whose names sort in another order than their ids. Those of every third are odd, all others quizzes. */
async function addMany ({ app }: TestApp): Promise<void> {
  await app.pg.query(`insert into roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext, name, name_sort_key, min_age, genres)
    select p.id, kind || n || '.sfc', 'roms', kind || n, kind || n, kind || n, lower(kind) || md5(n::text), n % 20,
      case when n % 3 = 0 then '{Puzzle}' else '{Quiz,Puzzle}' end::text[]
    from generate_series(1, $1) n, lateral (select case when n % 3 = 0 then 'Odd ' else 'Game ' end as kind) k,
      lateral (select id from platforms order by id offset n % 2 limit 1) p`, [MANY * 1.5])
}

t.test('a search and a filter that find thousands list what each caller sees, in order', async (t) => {
  const test = await fresh(t)
  const { pg } = test.app
  const alice = await test.createUser('alice')
  const fields = { genres: ['Quiz', 'Puzzle'] }
  const [snes] = [await addRom(test, { fs_name: 'Game.sfc', fields }), await addRom(test, { fs_name: 'Game.gb', platform: 'gb', fields })]
  await addMany(test)
  const matchOdd = "insert into rom_matches (rom_id, provider, provider_id, match) select id, 'igdb', id, '{}' from roms where name like 'Odd%' on conflict do nothing"
  await pg.query(matchOdd)
  await pg.query("update users set age_limit = 17 where username = 'alice'")
  await pg.query('insert into rom_users (rom_id, user_id, hidden) values ($1, $2, true)', [snes, await idOf(test, 'admin')])

  async function check (headers: Headers, condition: string, scope = ''): Promise<void> {
    const { rows } = await pg.query<{ ids: number[], first: string }>(`select array_agg(id order by name_sort_key, id) as ids,
      left(min(name_sort_key), 1) as first from roms where name like 'Game%' and ${condition}`)
    const { rows: [values] } = await pg.query(`select array_agg(distinct genre order by genre) as genres, array_agg(distinct platform_id) as platforms
      from roms, unnest(genres) genre where name like 'Game%' and ${condition}`)
    for (const query of ['search_term=game', 'genres=Quiz', 'genres=Quiz&genres=Puzzle&genres_logic=all&search_term=game', 'regions=x&regions_logic=none&search_term=game', 'matched=false']) {
      const page = await get<Page & { char_index: object, filter_values: object }>(test, headers, `roms?${query}${scope}`)
      t.same(page.rom_id_index, rows[0]?.ids, `${condition} ${query}${scope}`)
      t.same(page.char_index, { [rows[0]?.first ?? '']: 0 })
      t.same(page.items.map(({ id }) => id), rows[0]?.ids.slice(0, 50))
      if (query === 'search_term=game') t.match(page.filter_values, values)
    }
  }

  const [platform] = (await pg.query<{ id: number }>('select min(id) as id from platforms')).rows
  async function checkAll (): Promise<void> {
    await check(test.admin, `id <> ${snes}`)
    await check(alice, 'coalesce(min_age, 0) <= 17')
    await check(test.admin, `id <> ${snes} and platform_id = ${platform?.id}`, `&platform_ids=${platform?.id}`)
  }
  await checkAll()
  await pg.query("update roms set name = 'Odd', fs_name = 'y', name_sort_key = 'odd', genres = '{}' where id = (select max(id) from roms where name like 'Game%')")
  await pg.query("update roms set name = 'Game of Odds', fs_name = 'x', name_sort_key = 'game 5', genres = '{Puzzle,Quiz,Party}' where id = (select max(id) from roms where name like 'Odd %')")
  await pg.query(matchOdd)
  await pg.query("delete from rom_matches where rom_id in (select id from roms where name like 'Game%')")
  await pg.query("delete from roms where id = (select min(id) from roms where name like 'Game %')")
  await addRom(test, { fs_name: 'Game new.sfc', fields: { genres: ['Quiz', 'Puzzle'] } })
  await checkAll()
})
