import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test as TapTest } from 'tap'

const FIXTURES = fileURLToPath(new URL('fixtures/', import.meta.url))

/** Returns the name in a fixture's package.json; its folder's name if there is none. */
function readName (fixture: string, folder: string): string {
  const text = readFileSync(join(folder, fixture, 'package.json'), 'utf8')
  return /"name": "([^"]+)"/.exec(text)?.[1] ?? fixture
}

/** Creates a data directory with these fixtures installed as by npm, outside the test's own folder. */
export function installFixtures (
  t: Pick<TapTest, 'teardown'>, fixtures: readonly string[], folder = FIXTURES
): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-plugins-'))
  t.teardown(() => { rmSync(dataDir, { recursive: true, force: true }) })
  installInto(dataDir, fixtures, folder)
  return dataDir
}

/** Installs these fixtures into a data directory. */
export function installInto (dataDir: string, fixtures: readonly string[], folder = FIXTURES): void {
  const dependencies: Record<string, string> = {}
  for (const fixture of fixtures) {
    const name = readName(fixture, folder)
    const isTwin = name in dependencies
    dependencies[isTwin ? fixture : name] = '*'
    const link = join(dataDir, 'plugins', 'node_modules', isTwin ? fixture : name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(folder, fixture), link, 'junction')
  }
  mkdirSync(join(dataDir, 'plugins'), { recursive: true })
  writeFileSync(join(dataDir, 'plugins', 'package.json'), JSON.stringify({ dependencies }))
}
