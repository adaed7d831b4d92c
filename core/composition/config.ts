/** The configuration sections of all features. */
export { liveSections, sections } from '../../plugins/config.ts'
