import type { Context } from '../../../core/access/context.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import type { DatRow } from '../dat-rows.ts'
import { DAT_END, renderDatGame, renderDatStart } from '../parse/write-logiqx.ts'
import { selectMissing } from './list-rows.ts'

const PAGE = 500

/** Writes a DAT of the games that a caller misses. Memory holds one page of games. */
export async function * writeFixdat (context: Context<AnyCaller>, dat: DatRow): AsyncGenerator<string> {
  const { id, name, description, version, date, author } = dat
  yield renderDatStart({ name: `fix_${name}`, description: `Missing from ${description || name}`, version, date, author })
  for (let after = -1; ;) {
    const games = await selectMissing(context, id, after, PAGE)
    yield games.map(renderDatGame).join('')
    const last = games.at(-1)
    if (last === undefined || games.length < PAGE) break
    after = last.position
  }
  yield DAT_END
}
