/** The sections of the configuration that features bring. */
export { sections } from '../../plugins/config.ts'
