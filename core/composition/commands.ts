/** The commands of all features. The module must stay small, because every command loads it. */
export { commands } from '../../plugins/commands.ts'
