import { cpSync, existsSync, readFileSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join, resolve } from 'node:path'
import { ManifestSchema, type PluginKind } from '@svc/plugin-sdk'
import { Value } from '@sinclair/typebox/value'
import { dataDirOf } from '../../core/config/data-dir.ts'
import { settingsEnvironment } from '../../core/config/environment.ts'
import { EXIT_CODES, StartError } from '../../core/errors.ts'
import type { Features } from '../../core/feature.ts'
import { explainTakenField } from '../../core/loader/checks/provider-fields.ts'
import { listPluginPackages } from '../../core/loader/packages/packages.ts'
import { SERVER_DIR } from '../../core/server-dir.ts'

/** Folders that tests and builds leave in an example. */
const LEFT_OUT = new Set(['node_modules', 'dist', '.tap', '.tsimp'])
const FIRST_VERSION = '0.1.0'

/** Checks a key. @throws StartError if a plugin of this kind may not have it here */
function checkKey (kind: PluginKind, key: string, dataDir: string): void {
  const isKey: boolean = Value.Check(ManifestSchema.properties.key, key)
  if (!isKey) {
    throw new StartError(`'${key}' is not a valid key of a plugin. Use at most 32 lower-case letters, digits and '-', a letter first.`,
      { exitCode: EXIT_CODES.usage })
  }
  const existing = listPluginPackages(dataDir).find(({ manifest }) =>
    Value.Check(ManifestSchema, manifest) && manifest.kind === kind && manifest.key === key)
  if (existing !== undefined) {
    throw new StartError(`The ${kind} '${key}' is already installed, by ${existing.name}. Choose another key.`, { exitCode: EXIT_CODES.usage })
  }
}

/** Checks the fields that a provider's key gives it. @throws StartError if the server has one of them already */
function checkFields (key: string, serverFields: ReadonlySet<string>): void {
  const reason = explainTakenField({ key }, serverFields)
  if (reason !== null) throw new StartError(`A provider cannot be called '${key}': ${reason}.`, { exitCode: EXIT_CODES.usage })
}

/** Checks the target folder. @throws StartError if it is not empty, because files would be overwritten */
function checkFolder (folder: string): void {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return
  throw new StartError(`${folder} is not empty. Give the name of a new folder.`, { exitCode: EXIT_CODES.usage })
}

/** Renames the example's own key in code, variables and sentences. */
function rename (text: string, key: string): string {
  const words = key.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return text.replaceAll('MINIMAL', key.toUpperCase().replaceAll('-', '_'))
    .replaceAll('Minimal', words.join(' '))
    .replaceAll('minimal', key)
}

function setVersion (folder: string): void {
  for (const [name, pattern] of [['package.json', /"version": "[^"]+"/], ['CHANGELOG.md', /^## .+$/m]] as const) {
    const file = join(folder, name)
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace(pattern, name === 'package.json' ? `"version": "${FIRST_VERSION}"` : `## ${FIRST_VERSION}`))
  }
}

/** Returns the name that `npm pack` gives the archive of this server's SDK, which may differ from the published one. */
function packedName (sdk: string): string {
  const { name, version } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8')) as { name: string, version: string }
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
}

/** True if the `svc` on the shell's PATH is this server's, as in the image, where it drops root's rights first. */
function isOnPath (): boolean {
  const own = ['svc.js', join('cli', 'container.sh')].map((name) => realpathSync(join(SERVER_DIR, 'core', name)))
  // npm adds its own folders in front, which are gone once `npx svc` ends.
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  const program = folders.map((folder) => join(folder, 'svc')).find(existsSync)
  return program !== undefined && own.includes(realpathSync(program))
}

/** Returns a command line of this server for any folder. There, `npx svc` would offer another package of this name. */
function serverCommand (dataDir: string): string {
  const program = isOnPath() ? 'svc' : `node "${join(SERVER_DIR, 'core', 'svc.js')}"`
  return `${program} --data-dir "${dataDir}"`
}

/**
 * Runs `svc plugins create`: copies the minimal example of a kind under another key, as a package whose own tests pass.
 */
export async function createPlugin (
  features: Pick<Features, 'loadFieldNames'>, kind: PluginKind, key: string, given?: string
): Promise<void> {
  // Loading the configuration would create the data directory.
  const dataDir = dataDirOf(settingsEnvironment())
  checkKey(kind, key, dataDir)
  if (kind === 'provider') checkFields(key, await features.loadFieldNames())
  const folder = resolve(given ?? `svc-${kind}-${key}`)
  checkFolder(folder)
  cpSync(join(SERVER_DIR, 'examples', `${kind}-minimal`), folder, {
    recursive: true, filter: (source) => !LEFT_OUT.has(basename(source))
  })
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    writeFileSync(file, rename(readFileSync(file, 'utf8'), key))
  }
  setVersion(folder)
  const sdk = join(SERVER_DIR, 'sdk')
  process.stdout.write([`${folder} is the ${kind} '${key}'. Next:`,
    `  cd "${folder}"`,
    `  npm pack "${sdk}" && npm install --save-dev ./${packedName(sdk)}`,
    '  npm test && npm run build',
    `  ${serverCommand(dataDir)} plugins add .`, ''].join('\n'))
}
