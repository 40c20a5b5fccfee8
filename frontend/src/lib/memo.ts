/** Remembers the last answer of a pure function: many nodes ask the same question about the same document. */
export function rememberLast<Args extends readonly unknown[], Answer>(compute: (...args: Args) => Answer): (...args: Args) => Answer {
  let lastArgs: Args | undefined;
  let lastAnswer: Answer;
  return (...args) => {
    if (!lastArgs || args.some((arg, at) => arg !== lastArgs?.[at])) {
      lastAnswer = compute(...args);
      lastArgs = args;
    }
    return lastAnswer;
  };
}
