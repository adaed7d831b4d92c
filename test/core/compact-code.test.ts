import { execFile } from 'node:child_process'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { compactCode } from '../../core/loader/packages/compact-code.ts'
import { SERVER_DIR } from '../../core/server-dir.ts'

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

t.test('code beyond Latin-1 takes one byte a character and keeps its values', async (t) => {
  const MEBIBYTE = 1024 ** 2
  const folder = t.testdir({
    'wide.mjs': `// ${'x'.repeat(MEBIBYTE / 2)}
      const ハ = '→ 😀'
      export const call = () => ハ
      export default [ハ, \`…\${ハ}\`, /^[–😀]+$/u.test('–😀'), '日'.length, "\\u2026 ü"]`,
    'look.mjs': `const modules = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => import('./wide.mjs?' + name)))
      gc()
      console.log(JSON.stringify({ values: modules.map((module) => module.default), heap: process.memoryUsage().heapUsed }))`
  })
  const hook = pathToFileURL(join(SERVER_DIR, 'core', 'loader', 'packages', 'strip-hook.js')).href
  const run = async (...flags: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...flags, join(folder, 'look.mjs')])
    return JSON.parse(stdout) as { values: unknown[], heap: number }
  }
  const [plain, narrow] = [await run(), await run(`--import=${hook}?folder=none`)]
  t.strictSame(narrow.values, plain.values)
  t.ok(narrow.heap < plain.heap - MEBIBYTE, `${narrow.heap} and ${plain.heap} bytes`)
})
