/** What features add to the command line; light, for every command loads it. */
export { commands } from '../../plugins/commands.ts'
