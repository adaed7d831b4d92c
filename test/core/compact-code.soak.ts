import { stripTypeScriptTypes } from 'node:module'
import { stop, transform } from 'esbuild'
import t from 'tap'
import { toAscii } from '../../core/loader/packages/ascii-code.js'
import { compactCode } from '../../core/loader/packages/compact-code.ts'
import { SOURCES, read } from '../sources.ts'

t.teardown(() => stop())

/** Returns code without blanks and comments, which is equal for equal code. Regular expressions keep their escapes. */
const minify = async (text: string) =>
  toAscii((await transform(text, { minifyWhitespace: true, legalComments: 'none', charset: 'utf8' })).code)

/** True if each line is the same as before, apart from blanks, or empty. */
function hasSameLines (text: string, former: string): boolean {
  const [lines, formerLines] = [text, former].map((code) => code.split('\n').map((line) => line.replaceAll(' ', ''))) as [string[], string[]]
  return lines.length === formerLines.length && lines.every((line, index) => line === '' || formerLines[index]?.endsWith(line) === true)
}

t.test('compact code is shorter than each source, but the same code in the same lines', async (t) => {
  const sizes = { source: 0, compact: 0 }
  for (const path of SOURCES.filter((path) => /^(core|plugins|sdk|providers|channels|exporters)\/.*\.ts$/.test(path))) {
    const stripped = stripTypeScriptTypes(read(path))
    const compact = compactCode(read(path), stripped)
    sizes.source += stripped.length
    sizes.compact += compact.length
    if (!hasSameLines(compact, stripped)) t.fail(`${path} has other lines`)
    if (await minify(toAscii(compact)) !== await minify(stripped)) t.fail(`${path} has other code`)
  }
  t.ok(sizes.compact < sizes.source * 0.8, `${sizes.compact} of ${sizes.source} characters`)
})
