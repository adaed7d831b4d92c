import type { PluginKind } from '@svc/plugin-sdk'
import { Argument, type Command } from 'commander'
import type { Features } from '../../core/feature.ts'

export function addPluginCommands (program: Command, features: Features): void {
  const plugins = program.command('plugins').description('list every plugin with its status, in load order')
    .option('--json', 'print one JSON object per line')
    .action(async (options: { json?: boolean }) => { await (await import('./cli.ts')).listPlugins(features, options) })
  plugins.command('add').description('install a plugin from npm, a folder or a tarball')
    .argument('<package>', 'name, name@version, folder or tarball')
    .action(async (spec: string) => { await (await import('./npm.ts')).addPlugin(features, spec) })
  plugins.command('create').description('write the package of a new plugin, with tests that pass')
    .addArgument(new Argument('<kind>', 'kind of the plugin').choices(['provider', 'channel', 'exporter']))
    .argument('<key>', "key of the plugin: lower-case letters, digits and '-'")
    .argument('[folder]', 'folder of the package; default: svc-<kind>-<key>')
    .action(async (kind: PluginKind, key: string, folder?: string) => {
      await (await import('./create.ts')).createPlugin(features, kind, key, folder)
    })
  plugins.command('remove').description('uninstall a plugin').argument('<package>', 'name of the package')
    .action(async (name: string) => { process.exitCode = await (await import('./npm.ts')).removePlugin(features, name) })
}
