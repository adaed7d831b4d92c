import type { Command } from 'commander'
import type { Features } from '../../core/feature.ts'
import type { CopyOptions } from './cli.ts'

const HELP = `
The command copies what is missing or older in the target and deletes nothing, so it can be interrupted and repeated. The credentials of the
bucket come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`

export function addStoreCommands (program: Command, features: Features): void {
  const store = program.command('store').description('move uploads and artwork between the data directory and a bucket')
  store.command('copy').description('copy all uploads and artwork between the store of the settings and another one')
    .option('--to <url>', 'copy from the store of the settings to this bucket, such as s3://bucket/prefix')
    .option('--from <url>', 'copy from this bucket to the store of the settings')
    .addHelpText('after', HELP)
    .action(async (options: CopyOptions) => { await (await import('./cli.ts')).copy(features, options) })
}
