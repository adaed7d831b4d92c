/** A plugin returned something that its contract forbids. */
export class PluginAnswerError extends Error {
  override readonly name = 'PluginAnswerError'
}
