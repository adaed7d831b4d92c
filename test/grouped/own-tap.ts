import { fileTest } from './group.ts'

/** The module that a test file of a group imports as `tap`. */
const t = fileTest()
export const test = t.test.bind(t)
export default t
