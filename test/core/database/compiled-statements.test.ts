import { sql } from 'kysely'
import t from 'tap'
import { CompiledStatements, type PlaceholderOf } from '../../../core/database/compiled-statements.ts'
import { createTestDatabase } from '../../support.ts'
import { openDb } from '../../open-db.ts'

t.test('the text of a statement is built once, and each run has its own values', async (t) => {
  const { db, close } = await openDb(await createTestDatabase(t), 1)
  t.teardown(close)
  const statements = new CompiledStatements<{ answer: string }, 'left' | 'right'>(2)
  const built: string[] = []
  const ask = async (sign: string, left: number, right: number) => {
    const template = (placeholderOf: PlaceholderOf<'left' | 'right'>) => {
      built.push(sign)
      return sql<{ answer: string }>`select ${placeholderOf('right')}::int || ${sign}::text || ${placeholderOf('left')}::int as answer`
    }
    return (await statements.run(db, sign, { left, right }, template))[0]?.answer
  }

  t.equal(await ask('+', 1, 2), '2+1')
  t.equal(await ask('-', 3, 4), '4-3')
  t.equal(await ask('+', 5, 6), '6+5')
  t.same(built, ['+', '-'])
  await ask('*', 7, 8)
  t.equal(await ask('-', 9, 10), '10-9', 'a text that was not kept is built again')
  t.same(built, ['+', '-', '*', '-'])
})
