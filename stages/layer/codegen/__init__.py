"""PE programs: tasks turned into C in the words of stages/fabric/pe.h."""
