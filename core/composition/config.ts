/** The sections of the configuration that features bring. */
export { liveSections, sections } from '../../plugins/config.ts'
