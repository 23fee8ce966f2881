/** How often the model of an event is asked after failures, and how often an event's turn is taken (decisions §9). */
export const mostTries = 3;
