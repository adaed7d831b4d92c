import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import t from 'tap'
import { buildLargeFiles, buildLibrary } from './library.ts'
import { createBench } from './options.ts'

const OPTIONS = { roms: 24, smallKib: 4, platforms: 3, archives: 6, folders: 3 }

/** Lists path and digest of each file. */
function readTree (dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort().flatMap((path) => {
    if (statSync(join(dir, path)).isDirectory()) return []
    return [`${path.replaceAll(sep, '/')} ${createHash('sha1').update(readFileSync(join(dir, path))).digest('hex')}`]
  })
}

t.test('a library for benchmarks is the same each time it is built', async (t) => {
  const folder = t.testdir({ first: {}, second: {}, other: {} })
  const first = await buildLibrary(join(folder, 'first'), OPTIONS)
  const second = await buildLibrary(join(folder, 'second'), OPTIONS)
  await buildLibrary(join(folder, 'other'), { ...OPTIONS, seed: 2 })
  const tree = readTree(first.dir)
  t.same({ ...second, dir: '' }, { ...first, dir: '' })
  t.same(readTree(second.dir), tree)
  t.not(readTree(join(folder, 'other')).join(), tree.join(), 'another seed gives another library')

  t.equal(first.roms, 33)
  t.equal(tree.length, first.files)
  t.equal(new Set(tree.map((line) => line.slice(-40))).size, tree.length, 'no two files are equal')
  t.same(first.platforms.map((name) => readdirSync(join(first.dir, 'roms', name)).length), [11, 11, 11])
})

t.test('each benchmark describes itself, and refuses unknown options', async (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  const benches = Object.entries(scripts).filter(([script]) => script.startsWith('bench:'))
  t.ok(benches.length > 0)
  for (const [script, command] of benches) {
    const source = readFileSync(command.split(' ').at(-1) ?? '', 'utf8')
    t.match(source, `createBench('${script.slice('bench:'.length)}', `, script)
    t.notMatch(source, 'process.argv', script)
  }
  const refused = createBench('nothing', 'measures nothing').exitOverride().configureOutput({ writeErr: () => {} })
  t.throws(() => refused.parse(['--nonsense'], { from: 'user' }), /unknown option '--nonsense'/)
})

t.test('large files differ from each other, but not between builds', async (t) => {
  const folder = t.testdir({ first: {}, second: {} })
  const first = buildLargeFiles(join(folder, 'first'), 2, 2)
  buildLargeFiles(join(folder, 'second'), 2, 2)
  t.same(first.map((path) => statSync(path).size), [2 * 1024 ** 2, 2 * 1024 ** 2])
  t.same(readTree(join(folder, 'second')), readTree(join(folder, 'first')))
  t.equal(new Set(readTree(join(folder, 'first')).map((line) => line.slice(-40))).size, 2)
})
