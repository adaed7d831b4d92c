import type { Command } from 'commander'

export function addPluginCommands (program: Command): void {
  const plugins = program.command('plugins').description('list every plugin with its status, in load order')
    .option('--json', 'print one JSON object per line')
    .action(async (options: { json?: boolean }) => { await (await import('./cli.ts')).listPlugins(options) })
  plugins.command('add').description('install a plugin from npm, a folder or a tarball')
    .argument('<package>', 'name, name@version, folder or tarball')
    .action(async (spec: string) => { process.exitCode = await (await import('./npm.ts')).addPlugin(spec) })
  plugins.command('remove').description('uninstall a plugin').argument('<package>', 'its package name')
    .action(async (name: string) => { process.exitCode = await (await import('./npm.ts')).removePlugin(name) })
}
