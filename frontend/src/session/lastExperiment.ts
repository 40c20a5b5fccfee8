/** The experiment that was open last in this browser; `/` opens it again. */
const KEY = "millrace.last-experiment";

export const rememberExperiment = (id: string) => localStorage.setItem(KEY, id);
export const lastExperiment = () => localStorage.getItem(KEY);
