import type { AddCommands } from '../core/cli/program.ts'
import { addAssetCommands } from './assets/commands.ts'
import { addBackupCommands } from './backup/commands.ts'
import { addDoctorCommands } from './doctor/commands.ts'
import { addExportCommands } from './exports/commands.ts'
import { addPluginCommands } from './plugins/commands.ts'
import { addScanCommands } from './scans/commands.ts'
import { addTaskCommands } from './tasks/commands.ts'
import { addTrashCommands } from './trash/commands.ts'
import { addUserCommands } from './users/commands.ts'

/** The commands that features add to the command line, in the order of its help. */
export const commands: AddCommands[] = [
  addScanCommands, addExportCommands, addTaskCommands, addTrashCommands, addPluginCommands, addUserCommands,
  addAssetCommands, addBackupCommands, addDoctorCommands
]
