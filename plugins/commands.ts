import type { AddCommands } from '../core/cli/program.ts'
import { addAssetCommands } from './assets/restore/commands.ts'
import { addBackupCommands } from './backup/commands.ts'
import { addExportCommands } from './exports/cli/commands.ts'
import { addPluginCommands } from './plugins/commands.ts'
import { addScanCommands } from './scans/cli/commands.ts'
import { addTaskCommands } from './tasks/commands.ts'
import { addTrashCommands } from './trash/commands.ts'
import { addUserCommands } from './users/cli/commands.ts'

/** What features add to the command line, in the order of its help. */
export const commands: AddCommands[] = [
  addScanCommands, addExportCommands, addTaskCommands, addTrashCommands, addPluginCommands, addUserCommands,
  addAssetCommands, addBackupCommands
]
