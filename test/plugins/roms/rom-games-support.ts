import fc from 'fast-check'
import { ADMIN_ACCESS } from '../../../core/access/grants.ts'
import type { AnyCaller } from '../../../plugins/platforms/visibility.ts'
import { type TestApp } from '../../support.ts'

export const PROVIDERS = ['igdb', 'ra', 'ss', 'acme', 'zed', 'hltb', 'sgdb']
export const NAMES = ['Game (USA)', 'Game (Japan)', 'Game (Europe) (Demo)', 'Game (Beta)', 'Another (USA)', 'Game']
export const REGIONS = ['USA', 'Japan', 'Europe']
export const PRIORITY = ['us', 'eu']

export type Change = readonly [text: string, values: readonly unknown[]]

export const id = fc.integer({ min: 1, max: 7 })
export const ids = fc.uniqueArray(id, { minLength: 1, maxLength: 4 })
export const provider = fc.constantFrom(...PROVIDERS)
export const providers = fc.uniqueArray(provider, { minLength: 1, maxLength: 3 })
export const game = fc.option(fc.constantFrom('1', '2'), { nil: null, freq: 6 })
export const place = fc.record({
  platform: fc.constantFrom(1, 2), name: fc.constantFrom(...NAMES), region: fc.option(fc.constantFrom(...REGIONS))
})
export const UNMATCH = 'delete from rom_matches where rom_id = any($1::int[]) and provider = any($2::text[])'
export const UPSERT = `insert into rom_matches (rom_id, provider, provider_id, match) select r.id, p.provider, $3, '{}'
  from roms r cross join unnest($2::text[]) p (provider) where r.id = any($1::int[])
  on conflict (rom_id, provider) do update set provider_id = excluded.provider_id, match = excluded.match, updated_at = now()`
export const ADD = `insert into roms (id, platform_id, fs_name, fs_name_no_ext, fs_path, fs_name_no_tags, regions, min_age)
  select $1::int, $2::int, $3::text || ' ' || $1::int || '.zip', $3, '', $3, $4::text[], $5::int
  on conflict (id) do update set platform_id = excluded.platform_id, fs_name = excluded.fs_name,
    fs_name_no_ext = excluded.fs_name_no_ext, regions = excluded.regions`
export const REMATCH = `update rom_matches set provider = $2 where rom_id = $1
  and not exists (select from rom_matches m where m.rom_id = $1 and m.provider = $2)
  and provider = (select min(m.provider) from rom_matches m where m.rom_id = $1)`
export const MARK = `insert into rom_users (rom_id, user_id, is_main_sibling) values ($1, 1, true)
  on conflict (rom_id, user_id) do update set is_main_sibling = not rom_users.is_main_sibling`

/** Makes every third ROM one for adults. */
export const addAs = (rom: number, platform: number, name: string | undefined, region: string | null | undefined) =>
  [rom, platform, name, region === null ? [] : [region, 'World'], rom % 3 === 0 ? 18 : null]

export const alike = (text: string): fc.Arbitrary<Change> => fc.constant([text, []])

/** Random changes as made by scans, users and people with a database client. */
export const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(ids, providers, game).map((values): Change => [UPSERT, values]) },
  { weight: 3, arbitrary: fc.tuple(ids, providers).map((values): Change => [UNMATCH, values]) },
  {
    weight: 3, arbitrary: fc.tuple(id, place).map(([rom, { platform, name, region }]): Change =>
      [ADD, addAs(rom, platform, name, region)])
  },
  fc.tuple(id, provider).map((values): Change => [REMATCH, values]),
  alike('update rom_matches set updated_at = now(), provider_id = provider_id'),
  alike('update roms set regions = regions, fs_name = fs_name, updated_at = now()'),
  id.map((rom): Change => ['delete from roms where id = $1', [rom]]),
  id.map((rom): Change => [MARK, [rom]]),
  id.map((rom): Change =>
    ["insert into hidden_entities (entity, entity_id, user_id) values ('roms', $1, 1) on conflict do nothing", [rom]])
)

/** Refills the library with seven ROMs, each of one of two games. */
export async function refill ({ app }: Pick<TestApp, 'app'>): Promise<void> {
  await app.pg.query('delete from hidden_entities; delete from rom_users; delete from former_roms; delete from roms')
  for (let rom = 1; rom <= 7; rom++) {
    await app.pg.query(ADD, addAs(rom, rom > 5 ? 2 : 1, NAMES[rom % NAMES.length], REGIONS[rom % 3]))
  }
  await app.pg.query(`insert into rom_matches (rom_id, provider, provider_id, match)
    select id, case when id % 4 = 0 then 'acme' else 'igdb' end, 1 + id % 2, '{}' from roms`)
}

/** Callers who see everything, all that is not hidden, and all that is neither hidden nor for adults. */
export const limited: NonNullable<AnyCaller> = { id: 1, access: { ...ADMIN_ACCESS, is_admin: false, group_id: 1 } }
export const VIEWERS: AnyCaller[] = [null, limited, { id: 1, access: { ...limited.access, age_limit: 12 } }]
