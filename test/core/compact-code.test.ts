import { stripTypeScriptTypes } from 'node:module'
import t from 'tap'
import { compactCode } from '../../core/loader/packages/compact-code.ts'

const compact = (...lines: string[]) => {
  const source = lines.join('\n')
  return compactCode(source, stripTypeScriptTypes(source)).split('\n')
}

t.test('compact code has no types and no lines of comments, and each line keeps its number', async (t) => {
  t.strictSame(compact('/** Two', ' * lines. */', 'let b: Map<string, number> = c // one', '// two', '  /* three */ call<string>(b as D)'),
    ['', '', 'let b = c // one', '', ' call(b )'])
  t.strictSame(compact('interface A {', '  b: string', '}', 'export const d: A = e'), ['', '', '', 'export const d = e'])
})

t.test('compact code keeps words apart and the blanks of texts', async (t) => {
  t.strictSame(compact('const a = `', '  b  ', '`'), ['const a = `', '  b  ', '`'])
  t.strictSame(compact('for (const a of b as C[]) yield(d)'), ['for (const a of b ) yield(d)'])
})
