import { pathToFileURL } from 'node:url'
import { type Manifest, ManifestSchema, type PluginKind, SDK_VERSION } from '@svc/plugin-sdk'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { Value } from '@sinclair/typebox/value'
import satisfies from 'semver/functions/satisfies.js'
import validRange from 'semver/ranges/valid.js'
import { describeType } from '../../config/describe-type.ts'
import { errorCode } from '../../files/fs-error.ts'
import { findContractProblem, findDefinitionProblem, isPluginKind } from '../checks/check-definition.ts'
import { attributeCalls, runAs } from '../calls/fault.ts'
import { LoadError, limitLoading } from '../load-error.ts'
import type { PluginPackage } from '../packages/packages.ts'
import { type Descriptor, type UncheckedPlugin, readExport, rebuildDefinition } from '../descriptor.ts'
import { messageOf } from '../process/errors.ts'
import type { PluginProcess } from '../process/plugin-process.ts'
import type { Definition } from '../registry.ts'

export interface PluginExport { kind: PluginKind, definition: Definition }

const NO_PLUGIN = 'its default export is not the result of defineProvider, defineChannel or defineExporter of SDK ' +
  `${SDK_VERSION}; export this result, and do not bundle @svc/plugin-sdk`

/** Describes a wrong value of the manifest, with the values that fit. */
function describeManifestProblem ({ type, path, value, schema }: ValueError): string {
  const key = `"svc${path.replaceAll('/', '.')}" in its package.json`
  if (type === ValueErrorType.ObjectAdditionalProperties) return `${key} is not a key of the manifest; remove it`
  return value === undefined
    ? `${key} is missing; set it to ${describeType(schema)}`
    : `${key} is ${JSON.stringify(value)}; set it to ${describeType(schema)}`
}

/** Reads the manifest of a package. @throws LoadError if the package is invalid or its SDK range does not fit. */
export function readManifest (pack: PluginPackage): Manifest {
  if (pack.problem !== null) throw new LoadError('failed', pack.problem)
  if (pack.manifest === undefined) throw new LoadError('failed', 'its package.json has no "svc" key, so it is not a plugin')
  const [problem] = [...Value.Errors(ManifestSchema, pack.manifest)]
  if (problem !== undefined) throw new LoadError('failed', describeManifestProblem(problem))
  const manifest = pack.manifest as Manifest
  if (validRange(manifest.sdk) === null || !satisfies(SDK_VERSION, manifest.sdk)) {
    throw new LoadError('unsupported', `it needs SDK ${manifest.sdk}, this server has ${SDK_VERSION}; ` +
      `install a release of the plugin for SDK ${SDK_VERSION}, or change it as the CHANGELOG.md of the SDK says`)
  }
  return manifest
}

/**
 * Runs the package's code in this process and returns its default export.
 *
 * @throws LoadError if it cannot be loaded or does not match the manifest.
 */
export async function importPlugin (
  pack: PluginPackage & { entry: string }, manifest: Manifest, timeoutMs: number
): Promise<PluginExport> {
  try {
    const { href } = pathToFileURL(pack.entry)
    const imported = runAs(pack.name, () => import(href) as Promise<{ default?: unknown }>)
    const { default: exported } = await limitLoading('loading it', timeoutMs, () => imported)
    const plugin = readExport(exported)
    if (plugin === null) throw new LoadError('failed', NO_PLUGIN)
    const { kind, definition } = checkPlugin(plugin, manifest)
    return { kind, definition: attributeCalls(pack.name, definition) }
  } catch (err) {
    throw err instanceof LoadError ? err : new LoadError('failed', await describeImportError(err, pack))
  }
}

/**
 * Runs the package's code in its own process, and returns a definition whose functions call that process.
 *
 * @throws LoadError if it cannot be loaded or does not match the manifest.
 */
export async function importApart (
  pack: PluginPackage, manifest: Manifest, process: PluginProcess
): Promise<PluginExport> {
  try {
    const descriptor = await process.load()
    if (descriptor === null) throw new LoadError('failed', NO_PLUGIN)
    return readDescriptor(descriptor, manifest, (method) => process.call(method))
  } catch (err) {
    throw err instanceof LoadError ? err : new LoadError('failed', await describeImportError(err, pack))
  }
}

/**
 * Returns the plugin of a descriptor.
 *
 * @throws LoadError if it does not match the manifest.
 */
export function readDescriptor (
  descriptor: Descriptor, manifest: Manifest, callOf: (method: string) => (...args: unknown[]) => unknown
): PluginExport {
  return checkPlugin({ kind: descriptor.kind, definition: rebuildDefinition(descriptor, callOf) }, manifest)
}

/** @throws LoadError if the plugin is not the one of its manifest, or its definition cannot be used. */
function checkPlugin (exported: UncheckedPlugin, manifest: Manifest): PluginExport {
  if (!isPluginKind(exported.kind)) throw new LoadError('failed', NO_PLUGIN)
  const plugin = exported as PluginExport
  if (plugin.kind !== manifest.kind) {
    throw new LoadError('failed', `its package.json says ${manifest.kind}, its code is a ${plugin.kind}`)
  }
  if (plugin.definition.key !== manifest.key) {
    throw new LoadError('failed', `its package.json says key '${manifest.key}', its code '${plugin.definition.key}'`)
  }
  const { kind, definition } = plugin
  const problem = findContractProblem(kind, definition) ?? findDefinitionProblem(kind, definition)
  if (problem !== undefined) throw new LoadError('failed', problem)
  return plugin
}

/** The parts of the SDK that plugins import when they run. */
const SDK_PARTS = ['', '/readers', '/titles', '/xml', '/scene'].map((part) => `@svc/plugin-sdk${part}`)

/** Explains an import of a name that a part of the SDK does not export; null for any other error. */
async function describeSdkImport (message: string): Promise<string | null> {
  const [, part, name = ''] = /'(@svc\/plugin-sdk[^']*)' does not provide an export named '(\w+)'/.exec(message) ?? []
  if (part === undefined) return null
  const modules = await Promise.all(SDK_PARTS.map((sdkPart) => import(sdkPart) as Promise<object>))
  const sdkPart = SDK_PARTS[modules.findIndex((module) => name in module)]
  const remedy = sdkPart === undefined
    ? 'see the CHANGELOG.md of the SDK for what replaces it'
    : `import it from '${sdkPart}'`
  return `it imports '${name}' from '${part}', which does not export it in SDK ${SDK_VERSION}; ${remedy}`
}

async function describeImportError (err: unknown, pack: PluginPackage): Promise<string> {
  const message = messageOf(err)
  const code = errorCode(err)
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING') {
    return 'it exports TypeScript, which Node does not run below node_modules; build it to JavaScript first'
  }
  const missing = /Cannot find (package|module) '([^']+)'/.exec(message)
  if (code === 'ERR_MODULE_NOT_FOUND' && missing !== null) {
    return missing[1] === 'package'
      ? `it is installed, but its own dependency '${missing[2]}' is missing; reinstall ${pack.name}`
      : `it is installed, but its file '${missing[2]}' is missing; reinstall ${pack.name} or build it again`
  }
  return await describeSdkImport(message) ?? `it throws while loading: ${message}`
}
