import { stripTypeScriptTypes } from 'node:module'
import t from 'tap'
import { toAscii } from '../../core/loader/packages/ascii-code.js'
import { compactCode } from '../../core/loader/packages/compact-code.ts'

const compact = (...lines: string[]) => {
  const source = lines.join('\n')
  return compactCode(source, stripTypeScriptTypes(source)).split('\n')
}

t.test('compact code has no types and comments, and each line keeps its number', async (t) => {
  t.strictSame(compact('/** Two', ' * lines. */', 'let b: Map<string, number> = c // one', '// two', '  /* three */ call<string>(b as D)'),
    ['', '', 'let b = c // one', '', ' call(b )'])
  t.strictSame(compact('interface A {', '  b: string', '}', 'export const d: A = e'), ['', '', '', 'export const d = e'])
})

t.test('compact code keeps words apart and the blanks of texts', async (t) => {
  t.strictSame(compact('const a = `', '  b  ', '`'), ['const a = `', '  b  ', '`'])
  t.strictSame(compact('for (const a of b as C[]) yield(d)'), ['for (const a of b ) yield(d)'])
})

t.test('characters beyond ASCII become escapes with the same values', async (t) => {
  const code = 'const ハ = "→ 😀"; export default [ハ, "…" + ハ, /^[–😀]+$/u.test("–😀"), "日".length, "\\u2026 ü"]'
  const ascii = toAscii(code)
  t.match(ascii, /^[\0-\x7f]+$/)
  const run = async (text: string) => (await import(`data:text/javascript,${encodeURIComponent(text)}`) as { default: unknown }).default
  t.strictSame(await run(ascii), await run(code))
  t.equal(toAscii("'ü'"), "'ü'", 'a text in Latin-1 takes one byte a character')
  for (const unsafe of ["'\\→'", 'String.raw`→`', "a\u00a0= '→'", "const \u{20000} = '→'"]) t.equal(toAscii(unsafe), unsafe)
})
