import type { TestApp } from '../../support.ts'

export type Headers = Record<string, string>
export interface Page {
  total: number
  rom_id_index: number[]
  items: { id: number }[]
  filter_values: { regions: string[] }
}

export async function get<Answer> ({ app }: TestApp, headers: Headers, path: string): Promise<Answer> {
  const reply = await app.inject({ url: `/api/${path}`, headers })
  if (reply.statusCode !== 200) throw new Error(reply.body)
  return reply.json<Answer>()
}

export const idOf = async ({ app }: TestApp, username: string) =>
  (await app.pg.query<{ id: number }>('select id from users where username = $1', [username])).rows[0]?.id

/** Reads all cached values as one caller gets them. */
export async function readAll (test: TestApp, headers: Headers) {
  const page = await get<Page>(test, headers, 'roms')
  return {
    ids: page.rom_id_index,
    total: page.total,
    shown: page.items.map(({ id }) => id),
    regions: page.filter_values.regions,
    identifiers: await get<number[]>(test, headers, 'roms/identifiers'),
    filters: (await get<Page['filter_values']>(test, headers, 'roms/filters')).regions,
    counts: (await get<{ rom_count: number }[]>(test, headers, 'platforms')).map((platform) => platform.rom_count)
  }
}

export const all = (ids: number[], regions: string[], counts: number[]) =>
  ({ ids, total: ids.length, shown: ids, regions, identifiers: ids, filters: regions, counts })
