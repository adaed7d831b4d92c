import type { CoverChoice, CoverGroup } from '@svc/plugin-sdk'
import { type Fields, readFields, readInteger, readNumber, readText } from '@svc/plugin-sdk/readers'
import { listAllGrids, searchGames } from './api.ts'
import type { SgdbContext } from './config.ts'

/** Lists all covers of all games with names similar to the term. */
export async function listCovers (term: string, ctx: SgdbContext): Promise<CoverGroup[]> {
  const games = await searchGames(term, ctx)
  return await Promise.all(games.map(async ({ id, name }) =>
    ({ name, covers: (await listAllGrids(id, ctx)).map(toChoice) })))
}

function toChoice (grid: Fields): CoverChoice {
  const url = readText(grid, 'url') ?? ''
  const thumb = readText(grid, 'thumb') ?? ''
  return {
    url,
    thumb: URL.canParse(thumb) ? thumb : url,
    width: readInteger(grid, 'width'),
    height: readInteger(grid, 'height'),
    style: readText(grid, 'style'),
    author: readText(readFields(grid, 'author') ?? {}, 'name'),
    score: readNumber(grid, 'score'),
    is_animated: thumb.endsWith('.webm'),
    nsfw: grid.nsfw === true,
    humor: grid.humor === true,
    epilepsy: grid.epilepsy === true
  }
}
