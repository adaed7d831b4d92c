import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test as TapTest } from 'tap'

const FIXTURES = fileURLToPath(new URL('fixtures/', import.meta.url))

/** The name a fixture's package.json gives it; its folder's name when it gives none. */
function readName (fixture: string): string {
  const text = readFileSync(join(FIXTURES, fixture, 'package.json'), 'utf8')
  return /"name": "([^"]+)"/.exec(text)?.[1] ?? fixture
}

/** A data directory with these fixtures installed as npm would, in the order given. */
export function installFixtures (t: Pick<TapTest, 'testdir'>, fixtures: readonly string[]): string {
  const dataDir = t.testdir({})
  const dependencies: Record<string, string> = {}
  for (const fixture of fixtures) {
    const name = readName(fixture)
    const isTwin = name in dependencies
    dependencies[isTwin ? fixture : name] = '*'
    const link = join(dataDir, 'plugins', 'node_modules', isTwin ? fixture : name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(FIXTURES, fixture), link, 'junction')
  }
  mkdirSync(join(dataDir, 'plugins'), { recursive: true })
  writeFileSync(join(dataDir, 'plugins', 'package.json'), JSON.stringify({ dependencies }))
  return dataDir
}
